"""What replay methods share: a linear softmax head, and a buffer of samples to train it on again."""

from abc import abstractmethod
from typing import ClassVar, Generic, TypeVar

from i2cansay.core.buffers.sample_buffer import SampleBuffer
from i2cansay.core.paper.head import LinearHead
from i2cansay.core.part_bytes import head_bytes, samples_bytes
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.base import WEIGHTS_ARE_NOT_COPIES, OnlineClassifier
from i2cansay.learners.parameters import check_not_negative, check_positive, check_whole

Buffer = TypeVar("Buffer", bound=SampleBuffer)


class ReplayLearner(OnlineClassifier, Generic[Buffer]):
    """Base of the replay methods. Each has these four parameters, makes its buffer and decides what is replayed."""

    parts: ClassVar[tuple[str, ...]] = ("_head", "_buffer")
    stores_samples = True
    size_advice = "a smaller memory_size"
    expected_failed_checks = WEIGHTS_ARE_NOT_COPIES

    memory_size: int
    lr: float
    weight_decay: float
    batch_size: int

    @abstractmethod
    def _make_buffer(self, n_features: int) -> Buffer:
        """Return the empty buffer, with room for `memory_size` samples."""

    def _check_parameters(self) -> None:
        check_positive(lr=self.lr)
        check_not_negative(weight_decay=self.weight_decay)
        check_whole(memory_size=self.memory_size, batch_size=self.batch_size, at_least=1)

    def _start(self, n_features: int) -> None:
        self._head = LinearHead(n_features, bias=True)
        self._buffer = self._make_buffer(n_features)

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        return head_bytes(n_features, n_classes) + samples_bytes(n_features, self.memory_size)

    def _rehearse(
        self, X: Features, rows: Rows, weights: Float64 | None, replayed: Features, replayed_rows: Rows
    ) -> None:
        """Take one step on the mean cross-entropy of a batch plus that of replayed rows."""
        self._head.rehearse(
            X, rows, replayed, replayed_rows, weights=weights, lr=self.lr, weight_decay=self.weight_decay
        )

    def _scores(self, X: Features) -> Features:
        return self._head.logits(X)
