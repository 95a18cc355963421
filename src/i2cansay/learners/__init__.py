"""The learners, one file per method, all under the same contract.

>>> learner = make_learner("ncm", metric="cosine")
>>> learner.partial_fit([[1.0, 0.0], [0.0, 2.0]], ["east", "north"]).predict([[0.1, 9.0]])
array(['north'], dtype='<U5')
"""

from collections.abc import Sequence
from typing import Any

from i2cansay.core.import_by_name import find_class
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.choices import CHOICES

LEARNERS: dict[str, str] = {
    "i2cansay": "i2cansay.learners.i2cansay:I2CANSAY",
    "i2cansay_shared": "i2cansay.learners.shared.shared_i2cansay:SharedI2CANSAY",
    "naive": "i2cansay.learners.bounds.naive:Naive",
    "ncm": "i2cansay.learners.closed_form.ncm:NearestClassMean",
    "gaussian_nb": "i2cansay.learners.closed_form.gaussian_nb:OnlineGaussianNB",
    "slda": "i2cansay.learners.closed_form.slda:StreamingLDA",
    "ridge": "i2cansay.learners.closed_form.ridge:RecursiveRidge",
    "ranpac": "i2cansay.learners.closed_form.ranpac:RanPAC",
    "ranpac_recent": "i2cansay.learners.closed_form.ranpac_recent:RecentRanPAC",
    "gacl": "i2cansay.learners.closed_form.gacl:GACL",
    "foal": "i2cansay.learners.closed_form.foal:FOAL",
    "air": "i2cansay.learners.closed_form.air:AIR",
    "rff_lda": "i2cansay.learners.closed_form.rff_lda:RandomFourierLDA",
    "klda": "i2cansay.learners.closed_form.klda:KLDA",
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
    "dsdm_sessions": "i2cansay.learners.sessions.session_dsdm:SessionDSDM",
    "ewc": "i2cansay.learners.sessions.ewc:EWC",
    "lwf": "i2cansay.learners.sessions.lwf:LwF",
    "icarl": "i2cansay.learners.sessions.icarl:ICaRL",
    "eeil": "i2cansay.learners.sessions.eeil:EEIL",
    "fearnet": "i2cansay.learners.sessions.fearnet:FearNet",
    "ilugan": "i2cansay.learners.sessions.ilugan:ILUGAN",
    "l2p": "i2cansay.learners.prompts.l2p:L2P",
    "dualprompt": "i2cansay.learners.prompts.dualprompt:DualPrompt",
    "coda": "i2cansay.learners.prompts.coda:CODAPrompt",
    "single_prompt": "i2cansay.learners.prompts.single_prompt:SinglePrompt",
    "l2p_sessions": "i2cansay.learners.sessions.session_prompts:SessionL2P",
    "dualprompt_sessions": "i2cansay.learners.sessions.session_prompts:SessionDualPrompt",
    "coda_sessions": "i2cansay.learners.sessions.session_prompts:SessionCODAPrompt",
    "joint": "i2cansay.learners.bounds.joint:JointLogisticRegression",
}
"""Every method by name, as "module:Class", imported on use."""


def learner_class(name: str) -> type[OnlineClassifier]:
    """Return the class of a method.

    Parameters
    ----------
    name : str
        A name of `LEARNERS` or `CHOICES`; of an entry point of the group `i2cansay.learners`, which another package
        registers; or "package.module:Class" for a class of your own, derived from `OnlineClassifier`.

    Examples
    --------
    >>> learner_class("slda") is learner_class("i2cansay.learners.closed_form.slda:StreamingLDA")
    True
    """
    # mypy wants a concrete class as `base`; it is only compared with what was found.
    return find_class(
        name,
        table={**LEARNERS, **{choice: LEARNERS[CHOICES[choice].learner] for choice in CHOICES}},
        group="i2cansay.learners",
        base=OnlineClassifier,  # type: ignore[type-abstract]
        noun="learner",
    )


def make_learner(name: str, **parameters: Any) -> OnlineClassifier:
    """Return a new learner by name (see `learner_class`), with these parameters.

    A name of `CHOICES` has parameters of its own, which may be given others.

    Examples
    --------
    >>> make_learner("small").width, make_learner("small", width=512).width
    (1536, 512)
    """
    learner = learner_class(name)()
    if name in CHOICES:
        parameters = {**CHOICES[name].parameters, **parameters}
    if unknown := sorted(set(parameters) - set(learner.get_params(deep=False))):
        known = ", ".join(sorted(learner.get_params(deep=False)))
        raise ValueError(f"{name} has no parameter {', '.join(unknown)}; it has {known}")
    made: OnlineClassifier = learner.set_params(**parameters)
    return made


def make_seeded_learner(
    name: str, seed: int, *, blocks: Sequence[int] | None = None, **parameters: Any
) -> OnlineClassifier:
    """Return a new learner by name for features of these blocks, with these parameters and this seed.

    A method that draws nothing takes no seed, and one without a parameter `blocks` is not told of them.

    Examples
    --------
    >>> make_seeded_learner("naive", 7).random_state
    7
    >>> make_seeded_learner("ncm", 7)
    NearestClassMean()
    >>> make_seeded_learner("i2cansay_shared", 7, blocks=(64, 32)).blocks
    (64, 32)
    """
    draws = "random_state" in learner_class(name)().get_params(deep=False)
    seeded = {"random_state": seed} if draws else {}
    return make_learner(name, **seeded, **blocks_parameter(name, blocks or ()), **parameters)


def blocks_parameter(name: str, widths: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Return the parameter that tells a learner of the blocks of the features; none if it has no such parameter.

    Examples
    --------
    >>> blocks_parameter("i2cansay_shared", (64, 32)), blocks_parameter("ncm", (64, 32))
    ({'blocks': (64, 32)}, {})
    """
    asks = len(widths) > 1 and "blocks" in learner_class(name)().get_params(deep=False)
    return {"blocks": tuple(widths)} if asks else {}
