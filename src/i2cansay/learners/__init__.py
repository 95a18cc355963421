"""One file per method, every one under the same contract.

>>> learner = make_learner("ncm", metric="cosine")
>>> learner.partial_fit([[1.0, 0.0], [0.0, 2.0]], ["east", "north"]).predict([[0.1, 9.0]])
array(['north'], dtype='<U5')
"""

from importlib import import_module
from typing import Any

from i2cansay.core.import_by_name import import_by_name, is_import_name
from i2cansay.learners.base import OnlineClassifier

LEARNERS: dict[str, str] = {
    "i2cansay": "i2cansay.learners.i2cansay:I2CANSAY",
    "i2cansay_shared": "i2cansay.learners.shared.shared_i2cansay:SharedI2CANSAY",
    "naive": "i2cansay.learners.bounds.naive:Naive",
    "ncm": "i2cansay.learners.closed_form.ncm:NearestClassMean",
    "gaussian_nb": "i2cansay.learners.closed_form.gaussian_nb:OnlineGaussianNB",
    "slda": "i2cansay.learners.closed_form.slda:StreamingLDA",
    "ridge": "i2cansay.learners.closed_form.ridge:RecursiveRidge",
    "ranpac": "i2cansay.learners.closed_form.ranpac:RanPAC",
    "rff_lda": "i2cansay.learners.closed_form.rff_lda:RandomFourierLDA",
    "fecam": "i2cansay.learners.closed_form.fecam:FeCAM",
    "ensemble": "i2cansay.learners.memory.ensemble:Ensemble",
    "er": "i2cansay.learners.replay.er:ExperienceReplay",
    "agem": "i2cansay.learners.replay.agem:AveragedGEM",
    "mir": "i2cansay.learners.replay.mir:MaximallyInterferedRetrieval",
    "gss": "i2cansay.learners.replay.gss:GSS",
    "aser": "i2cansay.learners.replay.aser:ASER",
    "gdumb": "i2cansay.learners.replay.gdumb:GDumb",
    "cope": "i2cansay.learners.memory.cope:CoPE",
    "cndpm": "i2cansay.learners.memory.cndpm:CNDPM",
    "cv": "i2cansay.learners.memory.cv:CandidatesVoting",
    "dsdm": "i2cansay.learners.memory.dsdm:DSDM",
    "joint": "i2cansay.learners.bounds.joint:JointLogisticRegression",
}
"""Every method by name, as "module:Class", imported when it is asked for."""


def learner_class(name: str) -> type[OnlineClassifier]:
    """Return the class of a method by its name in `LEARNERS`, or one of your own as "package.module:Class"."""
    if is_import_name(name):
        own = import_by_name(name)
        if not (isinstance(own, type) and issubclass(own, OnlineClassifier)):
            raise ValueError(f"expected {name} to be a class derived from OnlineClassifier, got {own!r}")
        return own
    if name not in LEARNERS:
        known = ", ".join(sorted(LEARNERS))
        raise ValueError(
            f'there is no learner {name!r}; known are {known}; one of your own goes by "package.module:Class"'
        )
    module, _, attribute = LEARNERS[name].partition(":")
    found: type[OnlineClassifier] = getattr(import_module(module), attribute)
    return found


def make_learner(name: str, **parameters: Any) -> OnlineClassifier:
    """Return a new learner by name, with these parameters."""
    learner = learner_class(name)()
    if unknown := sorted(set(parameters) - set(learner.get_params(deep=False))):
        known = ", ".join(sorted(learner.get_params(deep=False)))
        raise ValueError(f"{name} has no parameter {', '.join(unknown)}; it has {known}")
    made: OnlineClassifier = learner.set_params(**parameters)
    return made
