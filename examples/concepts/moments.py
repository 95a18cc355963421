"""
What a moment is
================

A learner of this package keeps no image. Of each class it keeps moments: how many samples there were, their
mean, and their spread in each dimension of the feature. This page follows them through a stream of real
features.
"""

import matplotlib.pyplot as plt
import numpy as np

from i2cansay import I2CANSAY, merged
from i2cansay.datasets import get_dataset
from i2cansay.encoders import get_encoder
from i2cansay.features import encode_dataset

digits, encoder = get_dataset("digits"), get_encoder("efficientnet-lite0", size=64)
train = encode_dataset(digits, encoder, "train")
X, y = np.asarray(train.features, dtype=np.float32), train.labels
print(f"{len(X)} images, {X.shape[1]} features each")

# %%
# Count, mean, spread
# -------------------
# The threes come one by one, in random order. Of each of the 1,280 dimensions the learner has a running mean
# (Eq. 1 of the paper) and a running standard deviation, the spread (Eq. 2). Here is the dimension with the
# largest spread: grey dots are the samples, which are gone as soon as they are learnt; the line and the band
# are what stays.

rng = np.random.default_rng(0)
threes = rng.permutation(X[y == 3])
dimension = int(np.argmax(threes.std(axis=0)))
learner = I2CANSAY(random_state=0)
means, spreads = [], []
for sample in threes:
    learner.partial_fit(sample[None], [3])
    means.append(learner.class_means_[0].copy())
    spreads.append(learner.class_stds_[0].copy())
mean, spread = np.array(means)[:, dimension], np.array(spreads)[:, dimension]

n = np.arange(1, len(threes) + 1)
figure, axes = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
axes.plot(n, threes[:, dimension], ".", color="0.6", label="samples, not kept")
axes.plot(n, mean, color="#0f6b5c", label="running mean")
axes.fill_between(n, mean - spread, mean + spread, color="#0f6b5c", alpha=0.2, label="mean ± spread")
axes.set(xlabel="threes seen", ylabel=f"dimension {dimension}")
axes.legend(loc="upper right", fontsize=8)
plt.show()

# %%
# How soon a mean is good
# -----------------------
# The mean of n samples is off by about one over the square root of n. That is why five images of a class are
# worth so much, and the five hundredth so little.

final = means[-1]
off = np.linalg.norm(np.array(means) - final, axis=1) / np.linalg.norm(final)
early = slice(0, len(threes) // 2)  # near the end it compares with itself
figure, axes = plt.subplots(figsize=(7.5, 3.2), layout="constrained")
axes.loglog(n[early], off[early], color="#0f6b5c", label="distance from the mean of all threes")
axes.loglog(
    n[early], off[0] / np.sqrt(n[early]), "--", color="#a3620b", label="one over the square root of n"
)
axes.set(xlabel="threes seen", ylabel="share of the mean's length")
axes.legend(fontsize=8)
plt.show()
print(f"off by {off[0]:.0%} after one image, {off[4]:.0%} after five, {off[49]:.0%} after fifty")

# %%
# Any order, any batches, any place
# ---------------------------------
# Moments are exact. Two learners that saw half of the samples each, in whatever order, have together the
# moments of one that saw them all. So models can be merged, and a sample can be taken out again
# (``unlearn``).

whole = I2CANSAY(random_state=0).partial_fit(X, y)
order = rng.permutation(len(y))
halves = [I2CANSAY(random_state=0).partial_fit(X[rows], y[rows]) for rows in (order[::2], order[1::2])]
together = merged(halves)
apart = max(
    np.abs(together.class_means_[together.classes_.tolist().index(label)] - mean).max()
    for label, mean in zip(whole.classes_.tolist(), whole.class_means_, strict=True)
)
print(f"means of the merged halves differ from those of the whole by at most {apart:.0e}")
assert apart < 1e-5
