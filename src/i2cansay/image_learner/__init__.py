"""From images to labels in one object.

>>> from i2cansay.image_learner import ImageLearner
>>> ImageLearner("pixels")
<ImageLearner: pixels 8 px -> SharedI2CANSAY, 0 classes>
"""

from i2cansay.image_learner.answers import Answer, Guess, LessonReport, SkippedImages, UnreadableImages
from i2cansay.image_learner.doubts import Doubt
from i2cansay.image_learner.examination import Confusion, Examination
from i2cansay.image_learner.image_learner import ImageLearner

__all__ = [
    "Answer",
    "Confusion",
    "Doubt",
    "Examination",
    "Guess",
    "ImageLearner",
    "LessonReport",
    "SkippedImages",
    "UnreadableImages",
]
