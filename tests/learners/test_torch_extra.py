"""What a user reads who has no torch; torch need not be there for these tests."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from i2cansay.learners import LEARNERS, learner_class
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.torch_extra import import_torch, lacking_extra

NEED_TORCH = [kind for kind in map(learner_class, LEARNERS) if kind.extra == "torch"]


@pytest.mark.parametrize("kind", NEED_TORCH, ids=lambda kind: kind.__name__)
def test_without_torch_a_learner_says_which_extra(
    kind: type[OnlineClassifier], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        if name == "torch":
            raise ModuleNotFoundError(name=name)
        return import_module(name)

    monkeypatch.setattr("i2cansay.learners.torch_extra.import_module", missing)
    model = kind(**kind.small_parameters)
    with pytest.raises(ImportError, match=r"^this method needs torch, .* pip install 'i2cansay\[torch\]'$"):
        model.partial_fit(np.zeros((4, 12)), [0, 1, 0, 1])
    assert model.state() == {}


def test_a_torch_that_is_broken_says_so_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> Any:
        raise ImportError("libtorch_cpu.so: cannot open shared object file")

    monkeypatch.setattr("i2cansay.learners.torch_extra.import_module", broken)
    with pytest.raises(ImportError, match="cannot open shared object file"):
        import_torch()


def test_an_extra_that_is_there_or_not_asked_for_is_not_lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lacking_extra(None) == lacking_extra("numpy") == ""
    monkeypatch.setattr("i2cansay.learners.torch_extra.find_spec", lambda name: None)
    assert lacking_extra(None) == ""
    assert lacking_extra("torch") == "torch, which is not installed: pip install 'i2cansay[torch]'"
