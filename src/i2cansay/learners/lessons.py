"""Which learners can be taught by lessons: those that need no sessions, and read features."""

from i2cansay.learners.base import OnlineClassifier


def check_takes_lessons(learner: OnlineClassifier) -> None:
    """Raise ValueError if the learner takes each batch for a whole session: a lesson, of any size, is not one.

    Examples
    --------
    >>> from i2cansay.learners import make_learner
    >>> check_takes_lessons(make_learner("dsdm"))
    >>> check_takes_lessons(make_learner("dsdm_sessions"))
    Traceback (most recent call last):
    ...
    ValueError: SessionDSDM has to be told where sessions end, and lessons have none; choose another learner, \
or play a stream of sessions to it (i2cansay run)
    """
    if learner.needs_boundaries:
        raise ValueError(
            f"{type(learner).__name__} has to be told where sessions end, and lessons have none; choose another "
            "learner, or play a stream of sessions to it (i2cansay run)"
        )
    check_reads_features(learner)


def check_reads_features(learner: OnlineClassifier) -> None:
    """Raise ValueError if the learner reads images and runs a network itself: features would be taken for pixels.

    Examples
    --------
    >>> from i2cansay.learners import make_learner
    >>> check_reads_features(make_learner("l2p"))
    Traceback (most recent call last):
    ...
    ValueError: L2P reads images and prompts a network, and takes no features; `i2cansay reproduce prompts` plays it
    """
    if learner.reads_images:
        raise ValueError(
            f"{type(learner).__name__} reads images and prompts a network, and takes no features; "
            "`i2cansay reproduce prompts` plays it"
        )
