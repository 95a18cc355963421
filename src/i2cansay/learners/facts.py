"""What a learner declares about itself: the service, the tests and the tables ask it, and keep no list of names."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, Self

from i2cansay.core.types import State

WEIGHTS_ARE_NOT_COPIES: Mapping[str, str] = MappingProxyType(
    {
        "check_sample_weight_equivalence_on_dense_data": (
            "a weight makes a step larger, a repeated sample is another step"
        )
    }
)
"""`expected_failed_checks` of methods that learn in steps; scikit-learn excuses its SGDClassifier too."""
ROUNDED_TO_FLOAT32: Mapping[str, str] = MappingProxyType(
    {"check_sample_weight_equivalence_on_dense_data": "it requires 1e-7, which only some BLAS kernels reach"}
)
"""`expected_failed_checks` of methods with matrices in float32."""


class ArrayParameter(Protocol):
    """A parameter that is made of arrays, as the weights of a network: a file keeps it as such."""

    def to_arrays(self) -> State: ...

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self: ...


class LearnerFacts:
    """The facts of a learner, with their defaults. A method overrides those that are not true of it."""

    summary: ClassVar[str] = ""
    """The method in a few words, for tables of learners."""
    parts: ClassVar[tuple[str, ...]] = ()
    """Names of the attributes that make up the state, each a `StatePart` made by `_start`, or None where the
    parameters ask for none. The arrays of "_head" are saved as "head.weights" and so on."""
    caches: ClassVar[tuple[str, ...]] = ()
    """Names of attributes, each a `Cached` made by `_start`, that hold what is computed from the state. They are
    cleared whenever it changes."""
    small_parameters: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Parameters that make it small enough for the hundreds of tiny streams of the contract checks."""
    expected_failed_checks: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Checks of scikit-learn's `check_estimator` that it cannot pass, each with the reason."""
    stores_samples: bool = False
    """Whether the state holds samples, or rows from which a sample could be recovered."""
    streaming: ClassVar[bool] = True
    """Whether it learns as samples pass; False for the offline upper bound, which collects them and solves."""
    order_free: ClassVar[bool] = False
    """Whether the scores depend on the samples only, neither on their order nor on how they are batched."""
    needs_boundaries: ClassVar[bool] = False
    """Whether it takes each batch for a whole session, and so must be told where one ends. Such learners are in
    `learners/sessions`; only `evaluate.play` gives them sessions, and every table and record marks them."""
    extra: ClassVar[str | None] = None
    """The extra of the package that it needs, as "torch"; without it `partial_fit` says what to install."""
    reads_images: ClassVar[bool] = False
    """Whether a row is an image, as an encoder with `+pixels` gives it. Such a learner is told the encoder's weights
    (`network`), and nothing else can be made of its rows."""
    array_parameters: ClassVar[Mapping[str, type[ArrayParameter]]] = MappingProxyType({})
    """Parameters that are not plain values but objects made of arrays, with their classes: `to_arrays` and
    `from_arrays` take them to a file and back."""
    lazy: ClassVar[bool] = False
    """Whether the first scores after a change are expensive, because something is solved for them."""
    plain_means: ClassVar[bool] = True
    """Whether `class_means_`, if there are any, are means of the features themselves, not of their roots or
    projections, so that the mean of a class with one sample is that sample."""
    size_advice: str = "narrower features, fewer classes"
    """What makes the state smaller; part of the error that it would be too large."""
    structural: ClassVar[tuple[str, ...]] = ()
    """Parameters that the state depends on. A change to one of them takes effect when learning starts over."""

    def _check_same_features(self, other: Self) -> None:
        """Raise unless two taught learners with equal parameters see features the same way."""

    @property
    def _answers_at_once(self) -> bool:
        """Whether a `lazy` learner has its solution at hand, since someone has asked after the last lesson.

        Scoring costs little then, and every lesson is scored before it is learnt. Otherwise that waits until the
        stream has grown.
        """
        return bool(self.caches) and all(getattr(self, name).ready for name in self.caches)

    @property
    def fades(self) -> bool:
        """Whether earlier samples count less with every later one: then a class mean can be its latest sample."""
        return bool(getattr(self, "forgetting", 0))
