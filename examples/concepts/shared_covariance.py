"""
What a shared covariance is
===========================

Features of an encoder move together: images that are large, dark or tilted are so in many dimensions at once,
and in every class. One covariance matrix for all classes describes that. Measured against it, a difference in
a direction in which every class scatters counts little, and one in a quiet direction counts much. This is
what ``best`` and ``small`` learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from i2cansay import make_learner
from i2cansay.datasets import get_dataset
from i2cansay.encoders import get_encoder
from i2cansay.features import encode_dataset

digits, encoder = get_dataset("digits"), get_encoder("efficientnet-lite0", size=64)
train, test = (encode_dataset(digits, encoder, split) for split in ("train", "test"))
X, y = np.asarray(train.features, dtype=np.float32), train.labels
X_test, y_test = np.asarray(test.features, dtype=np.float32), test.labels

# %%
# Dimensions that move together
# -----------------------------
# Correlations of sixty dimensions around the class means: on the left among the twos, on the right among the
# sevens. They are alike, which is what makes one matrix for all classes worth having.

centred = X - np.stack([X[y == label].mean(axis=0) for label in range(10)])[y]
chosen = np.argsort(centred.std(axis=0))[-60:]
figure, pair = plt.subplots(1, 2, figsize=(7.5, 3.9), layout="constrained")
for axes, label in zip(pair, (2, 7), strict=True):
    shown = axes.imshow(
        np.corrcoef(centred[y == label][:, chosen], rowvar=False), cmap="BrBG", vmin=-1, vmax=1
    )
    axes.set(title=f"within class {label}", xticks=[], yticks=[])
figure.colorbar(shown, ax=pair, shrink=0.8, label="correlation")
plt.show()

upper = np.triu_indices(60, 1)
two, seven = (np.corrcoef(centred[y == label][:, chosen], rowvar=False)[upper] for label in (2, 7))
print(f"correlation of the two: {np.corrcoef(two, seven)[0, 1]:.2f}")

# %%
# The same samples, measured against it
# -------------------------------------
# Twos and sevens in the plane in which they vary most. On the left as they are; on the right after every
# direction is divided by how much *all* classes scatter in it (the covariance is shrunk, or quiet directions
# would be divided by noise).

covariance = centred.T @ centred / (len(X) - 10)
shrunk = 0.8 * covariance + 0.2 * np.trace(covariance) / 1280 * np.eye(1280)
values, vectors = np.linalg.eigh(shrunk)
whiten = vectors / np.sqrt(values)
figure, pair = plt.subplots(1, 2, figsize=(7.5, 3.9), layout="constrained")
for axes, features, title in ((pair[0], X, "as they are"), (pair[1], X @ whiten, "against the covariance")):
    some = features[np.isin(y, (2, 7))]
    plane = PCA(2, random_state=0).fit(some)
    for label, colour in ((2, "#0f6b5c"), (7, "#f0a53a")):
        axes.scatter(
            *plane.transform(features[y == label]).T, s=14, c=colour, alpha=0.7, label=f"class {label}"
        )
    axes.set(title=title, xticks=[], yticks=[])
pair[0].legend(fontsize=8)
plt.show()

# %%
# What it brings, from the first samples on
# -----------------------------------------
# A class with two samples has no covariance of its own to speak of. It takes that of all the others.

rng = np.random.default_rng(0)
counts = (1, 2, 5, 10, 20, 50, 100)
names = {"ncm": "nearest class mean", "i2cansay": "the paper's learner", "best": "best: shared covariance"}
found: dict[str, list[float]] = {name: [] for name in names}
for count in counts:
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == label))[:count] for label in range(10)])
    rows = rng.permutation(rows)
    for name in names:
        learner = make_learner(name)
        for start in range(0, len(rows), 50):
            learner.partial_fit(X[rows[start : start + 50]], y[rows[start : start + 50]])
        found[name].append(learner.score(X_test, y_test))

figure, axes = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
for (name, title), colour in zip(names.items(), ("0.55", "#f0a53a", "#0f6b5c"), strict=True):
    axes.semilogx(counts, 100 * np.array(found[name]), "o-", color=colour, label=title)
axes.set(
    xlabel="samples of each class", ylabel="accuracy on test digits, %", xticks=counts, xticklabels=counts
)
axes.minorticks_off()
axes.legend(fontsize=8)
plt.show()
for name in names:
    print(f"{name:9}", " ".join(f"{share:5.0%}" for share in found[name]))
