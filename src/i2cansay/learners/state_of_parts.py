"""A state that consists of parts: growing by a class, dropping one, saving and restoring follow from their names."""

from i2cansay.core.state_parts import StatePart, add_prefix, strip_prefix
from i2cansay.core.types import State
from i2cansay.learners.facts import LearnerFacts
from i2cansay.learners.labels import LabelRows


class StateOfParts(LearnerFacts):
    """Derives from `parts` what happens to the whole state. A method may override what does not fit it."""

    _labels: LabelRows

    def _named_parts(self) -> dict[str, StatePart]:
        found = {name.lstrip("_"): getattr(self, name) for name in self.parts}
        return {name: part for name, part in found.items() if part is not None}

    def _check_parts(self) -> None:
        """Raise where `parts` does not name what `_start` has made; the author of a method reads this."""
        method = type(self).__name__
        if not self.parts and type(self)._state is StateOfParts._state:
            raise TypeError(
                f"{method}.parts is empty, so nothing that it learns would be saved; name in it the attributes that "
                "_start makes"
            )
        for name in self.parts:
            part = getattr(self, name, self)
            if part is self:
                raise TypeError(f"{method}.parts names {name}, but _start does not make it")
            if part is not None and not isinstance(part, StatePart):
                raise TypeError(
                    f"{method}.{name} is a {type(part).__name__}, but a part of the state has resize, drop, state "
                    "and restore; keep an array with a row per class in a ClassRows (i2cansay.core.class_rows)"
                )

    def _grow(self, n_classes: int) -> None:
        """Make room for `n_classes` classes."""
        for part in self._named_parts().values():
            part.resize(n_classes)

    def _drop(self, row: int) -> None:
        """Remove one class."""
        for part in self._named_parts().values():
            part.drop(row)

    def _state(self) -> State:
        """Return everything learnt as arrays."""
        state: State = {}
        for name, part in self._named_parts().items():
            state |= add_prefix(name, part.state())
        return state

    def _restore(self, state: State) -> None:
        """Take over what `_state` returned; raise ValueError where it does not fit. `_start` has been called."""
        for name, part in self._named_parts().items():
            try:
                part.restore(strip_prefix(state, name), len(self._labels))
            except KeyError as missing:
                raise KeyError(f"{name}.{missing.args[0]}") from None

    def _clear_caches(self) -> None:
        """Discard what was computed from the state, because the state has changed."""
        for name in self.caches:
            getattr(self, name).clear()
