"""An image classifier that keeps learning from a labelled stream.

>>> from i2cansay import I2CANSAY
>>> from sklearn.datasets import load_digits
>>> X, y = load_digits(return_X_y=True)
>>> model = I2CANSAY(random_state=0)
>>> for start in range(0, 1500, 50):
...     model = model.partial_fit(X[start : start + 50] / 16, y[start : start + 50])
>>> model.score(X[1500:] / 16, y[1500:]) > 0.75  # about 0.86
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from i2cansay.image_learner import ImageLearner as ImageLearner
    from i2cansay.learners import LEARNERS as LEARNERS
    from i2cansay.learners import make_learner as make_learner
    from i2cansay.learners.i2cansay import I2CANSAY as I2CANSAY
    from i2cansay.learners.merging import merged as merged
    from i2cansay.learners.model_file import from_bytes as from_bytes
    from i2cansay.learners.model_file import load as load
    from i2cansay.learners.shared.shared_i2cansay import SharedI2CANSAY as SharedI2CANSAY

__version__ = "0.1.0"

_HOME = {
    "I2CANSAY": "i2cansay.learners.i2cansay",
    "ImageLearner": "i2cansay.image_learner",
    "LEARNERS": "i2cansay.learners",
    "SharedI2CANSAY": "i2cansay.learners.shared.shared_i2cansay",
    "from_bytes": "i2cansay.learners.model_file",
    "load": "i2cansay.learners.model_file",
    "make_learner": "i2cansay.learners",
    "merged": "i2cansay.learners.merging",
}
__all__ = [
    "I2CANSAY",
    "LEARNERS",
    "ImageLearner",
    "SharedI2CANSAY",
    "from_bytes",
    "load",
    "make_learner",
    "merged",
]


def __getattr__(name: str) -> Any:
    # On use, not on import: `import i2cansay` stays light, and each door opens only its own room.
    if name not in _HOME:
        raise AttributeError(f"module 'i2cansay' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
