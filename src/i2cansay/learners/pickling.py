"""How a learner is pickled and copied: a pickle holds what a model file holds, parameters and `state()`.

Nothing here writes a pickle. But worker processes, joblib, MLflow and skops ask an object what it consists of, and
the answer decides which types the reader has to trust. Ours is plain values and arrays of numbers, so that the
learner's class is the only type; and a state that is read is checked as that of a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Self

import sklearn

from i2cansay.core.types import State


class PickledByState:
    """The part of `OnlineClassifier` by which `pickle`, `copy` and their kin take it apart.

    Examples
    --------
    >>> from i2cansay.learners import make_learner
    >>> sorted(make_learner("ncm").partial_fit([[0.0], [1.0]], ["low", "high"]).__getstate__())
    ['parameters', 'state']
    """

    if TYPE_CHECKING:

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def get_metadata_routing(self) -> Any: ...
        def state(self) -> State: ...
        def set_state(self, state: State) -> Self: ...
        def _check_structural(self) -> None: ...

    def __getstate__(self) -> dict[str, Any]:
        self._check_structural()
        taken: dict[str, Any] = {"parameters": self.get_params(deep=False), "state": self.state()}
        if "_metadata_request" in self.__dict__:  # attached by scikit-learn's set_fit_request and its like
            taken["requests"] = self._requests()
        return taken

    def __setstate__(self, taken: Mapping[str, Any]) -> None:
        parameters, state = taken.get("parameters"), taken.get("state")
        if not isinstance(parameters, dict) or not isinstance(state, dict):
            raise ValueError(
                f"expected the parameters and the state of a {type(self).__name__}, got {sorted(taken)[:5]}; "
                "was it pickled by an earlier version? Load it there, and use save"
            )
        # Resuming draws from a random_state that is a generator, so it is given a copy.
        resumed = type(self)(**deepcopy(parameters)).set_state(state)
        self.__dict__.update(resumed.__dict__ | parameters)
        with sklearn.config_context(enable_metadata_routing=True):
            for method, asked in taken.get("requests", {}).items():
                getattr(self, f"set_{method}_request")(**asked)

    def _requests(self) -> dict[str, dict[str, bool | str]]:
        """Return which metadata each method asks for; scikit-learn's own object refers back to the learner."""
        routing = self.get_metadata_routing()
        methods = [
            name[4:-8] for name in dir(type(self)) if name.startswith("set_") and name.endswith("_request")
        ]
        asked = {method: dict(getattr(routing, method).requests) for method in methods}
        return {
            method: {name: wish for name, wish in wishes.items() if wish is not None}
            for method, wishes in asked.items()
            if any(wish is not None for wish in wishes.values())
        }

    def __copy__(self) -> Self:
        """Return a learner of the same parts: what one learns in place, the other knows."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a learner of its own, solutions at hand included, which a pickle leaves out."""
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(deepcopy(self.__dict__, memo))
        return twin
