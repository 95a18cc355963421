"""What skops, and MLflow through it, has to trust to load a learner: its class, and nothing else.

skops reads an object only if every type in it is trusted. A learner consists of plain values and arrays
(`i2cansay.learners.pickling`), and checks them when it is loaded, as it does with a model file.
"""

from i2cansay.learners import LEARNERS, learner_class


def trusted_types(*learners: object) -> list[str]:
    """Return the types to trust for these learners, given as objects or classes; without any, for all of `LEARNERS`.

    Examples
    --------
    >>> from i2cansay.learners import make_learner
    >>> trusted_types(make_learner("best"), make_learner("small"))
    ['i2cansay.learners.shared.shared_i2cansay.SharedI2CANSAY']
    >>> len(trusted_types()) == len(LEARNERS)
    True
    """
    given = learners or tuple(learner_class(name) for name in LEARNERS)
    classes = [learner if isinstance(learner, type) else type(learner) for learner in given]
    return sorted({f"{found.__module__}.{found.__qualname__}" for found in classes})
