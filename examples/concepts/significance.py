"""
What a significance is
======================

In some dimensions the samples of a class agree, in others they scatter. The paper weighs dimensions by that:
where the spread of a class is small, the dimension says much about the class, and counts more in the distance
to its mean (Eq. 6 and 7). The weights of a class sum to one; each of them is a significance.
"""

import matplotlib.pyplot as plt
import numpy as np

from i2cansay import I2CANSAY
from i2cansay.core.paper.isay import significance
from i2cansay.datasets import get_dataset
from i2cansay.encoders import get_encoder
from i2cansay.features import encode_dataset

digits, encoder = get_dataset("digits"), get_encoder("efficientnet-lite0", size=64)
train, test = (encode_dataset(digits, encoder, split) for split in ("train", "test"))
X, y = np.asarray(train.features, dtype=np.float32), train.labels
X_test, y_test = np.asarray(test.features, dtype=np.float32), test.labels

# %%
# From spread to significance
# ---------------------------
# The significance is a softmax of what the spread lacks to the largest one. Dimensions are shown in the order
# of their spread among the ones; the grey line is what every dimension would have if all counted the same.

learner = I2CANSAY(random_state=0).partial_fit(X, y)
spreads = {int(label): row for label, row in zip(learner.classes_, learner.class_stds_, strict=True)}
weights = {label: significance(row[None])[0] for label, row in spreads.items()}
order = np.argsort(spreads[1])

figure, (upper, lower) = plt.subplots(2, 1, figsize=(7.5, 5), sharex=True, layout="constrained")
for label, colour in ((8, "#f0a53a"), (1, "#0f6b5c")):
    upper.plot(spreads[label][order], color=colour, linewidth=0.8, label=f"class {label}")
    lower.plot(1280 * weights[label][order], color=colour, linewidth=0.8)
lower.axhline(1, color="0.5", linewidth=0.8)
upper.set(ylabel="spread")
lower.set(xlabel="dimensions, by their spread in class 1", ylabel="significance x 1280")
upper.legend(fontsize=8)
plt.show()

# %%
# How much it changes
# -------------------
# Spreads here are between zero and about two and a half, so that the largest weight of a class is about ten
# times the smallest.

for label in (1, 8):
    print(
        f"class {label}: the largest weight is {weights[label].max() / weights[label].min():.1f} times the smallest"
    )

# %%
# What that does to the nearest mean, alone: with the plain distance, with significances, and with weights of
# one over the variance, which is the same idea with nothing holding it back.

means = np.stack([learner.class_means_[row] for row in range(10)])
stds = np.stack([spreads[int(label)] for label in learner.classes_])


def accuracy(weight: np.ndarray) -> float:
    """Accuracy of the nearest mean when class c weighs dimension j by weight[c, j]."""
    distances = np.stack(
        [((X_test - mean) ** 2 * row).sum(axis=1) for mean, row in zip(means, weight, strict=True)]
    )
    return float((learner.classes_[distances.argmin(axis=0)] == y_test).mean())


for name, weight in (
    ("plain distance", np.ones_like(stds)),
    ("significance", np.stack([weights[int(label)] for label in learner.classes_])),
    ("one over the variance", 1 / (stds**2 + 1e-3)),
):
    print(f"{name:22} {accuracy(weight):.1%}")

# %%
# Every weighting of single dimensions leaves out that dimensions move together.
# :ref:`sphx_glr_gallery_concepts_shared_covariance.py` takes that up.
