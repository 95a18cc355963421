"""
What a pseudo-feature is
========================

Old classes have no stored samples to replay. The paper makes features for them by analogy: *this new sample
is unlike the mean of its class in some way; an old class has samples that are unlike its mean in the same
way*. The offset of the sample is scaled by the ratio of the two spreads and added to the old class's mean
(Eq. 3 and 4). The results are pseudo-features.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression

from i2cansay.core.paper.ican import transfer
from i2cansay.datasets import get_dataset
from i2cansay.encoders import get_encoder
from i2cansay.features import encode_dataset

digits, encoder = get_dataset("digits"), get_encoder("efficientnet-lite0", size=64)
train = encode_dataset(digits, encoder, "train")
X, y = np.asarray(train.features, dtype=np.float32), train.labels

# %%
# Eights out of threes
# --------------------
# The threes are new, and the eights are long gone: of them only mean and spread are left. Every three becomes
# an eight.

threes, eights = X[y == 3], X[y == 8]
one_row_each = (len(threes), 1)
pseudo = transfer(
    threes,
    mean_from=np.tile(threes.mean(axis=0), one_row_each),
    std_from=np.tile(threes.std(axis=0), one_row_each),
    mean_to=np.tile(eights.mean(axis=0), one_row_each),
    std_to=np.tile(eights.std(axis=0), one_row_each),
)

plane = PCA(2, random_state=0).fit(np.concatenate([threes, eights]))
figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
for points, colour, mark, name in (
    (threes, "#a3620b", "o", "threes, in the batch"),
    (eights, "0.55", "o", "real eights, not kept"),
    (pseudo, "#0f6b5c", "x", "pseudo-features of eight, one from each three"),
):
    across, up = plane.transform(points).T
    axes.scatter(across, up, s=22, c=colour, marker=mark, alpha=0.7, label=name)
axes.set(xlabel="first principal component", ylabel="second")
axes.legend(fontsize=8)
plt.show()

# %%
# They have the mean and the spread of the old class by construction, so the cloud lies where the eights lie.
# There is an exception: in a dimension in which the threes do not vary at all there is nothing to scale, and
# every pseudo-feature has the mean of the eights.

varies = threes.std(axis=0) > 0
print(f"{varies.sum()} of {len(varies)} dimensions vary among the threes; in these")
print(f"means differ by {np.abs(pseudo.mean(axis=0) - eights.mean(axis=0))[varies].max():.0e} at most,")
print(f"spreads by {np.abs(pseudo.std(axis=0) - eights.std(axis=0))[varies].max():.0e}")

# %%
# What they keep, and what they do not
# ------------------------------------
# A classifier that knows all real samples, and has never seen a pseudo-feature, is asked what they are.
# Beside it: draws from a normal distribution with the same mean and spread, dimension by dimension.

judge = LogisticRegression(max_iter=500).fit(X, y)
rng = np.random.default_rng(0)
normal = rng.normal(eights.mean(axis=0), eights.std(axis=0), size=pseudo.shape)
for name, points in (("pseudo-features", pseudo), ("normal draws", normal)):
    print(f"{(judge.predict(points) == 8).mean():.0%} of the {name} look like an eight")

# %%
# An analogy also carries over which dimensions move together, because a real sample moved that way; in a
# normal draw each moves alone. It is the correlation of the *threes*, though, so it agrees with that of the
# eights only as far as the two classes do.

telling = np.argsort(eights.std(axis=0) * varies)[-200:]  # in which eights vary most
upper = np.triu_indices(200, 1)
of = {
    name: np.asarray(np.corrcoef(points[:, telling], rowvar=False))[upper]
    for name, points in (("eights", eights), ("pseudo-features", pseudo), ("normal draws", normal))
}
for name in ("pseudo-features", "normal draws"):
    print(
        f"correlations of {name} agree with those of eights to {np.corrcoef(of[name], of['eights'])[0, 1]:.2f}"
    )
