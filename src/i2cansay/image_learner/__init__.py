"""From images to labels in one object.

>>> from i2cansay.image_learner import ImageLearner
>>> ImageLearner("pixels")
<ImageLearner: pixels 8 px -> I2CANSAY, 0 classes>
"""

from i2cansay.image_learner.answers import Guess, LessonReport, SkippedImages, UnreadableImages
from i2cansay.image_learner.image_learner import ImageLearner

__all__ = ["Guess", "ImageLearner", "LessonReport", "SkippedImages", "UnreadableImages"]
