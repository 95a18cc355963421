"""From pictures to labels in one object.

>>> from i2cansay.image_learner import ImageLearner
>>> ImageLearner("pixels")
<ImageLearner: pixels 8 px -> I2CANSAY, 0 classes>
"""

from i2cansay.image_learner.learner import ImageLearner
from i2cansay.image_learner.outcome import Guess, Report, SkippedImages, UnreadableImages

__all__ = ["Guess", "ImageLearner", "Report", "SkippedImages", "UnreadableImages"]
