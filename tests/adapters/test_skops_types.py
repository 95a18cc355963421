"""skops saves every learner, and has to trust one type for each."""

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from i2cansay.adapters.skops_types import trusted_types
from i2cansay.learners import LEARNERS, make_learner
from i2cansay.testing import small_learner

skops_io: Any = pytest.importorskip("skops.io")

pytestmark = pytest.mark.adapters
X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("name", LEARNERS)
def test_one_type_is_trusted_for_each_learner(name: str) -> None:
    model = small_learner(name).partial_fit(X[::2], Y[::2])
    data = skops_io.dumps(model)
    assert skops_io.get_untrusted_types(data=data) == trusted_types(model)
    assert len(trusted_types(model)) == 1
    again = skops_io.loads(data, trusted=trusted_types(model))
    for learner in (model, again):
        learner.partial_fit(X[1::2], Y[1::2])
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_an_untaught_learner_and_one_in_a_pipeline() -> None:
    fresh = skops_io.loads(skops_io.dumps(make_learner("best", random_state=3)), trusted=trusted_types())
    assert fresh.get_params() == make_learner("best", random_state=3).get_params()
    pipeline = make_pipeline(StandardScaler(), make_learner("best")).fit(X, Y)
    data = skops_io.dumps(pipeline)
    assert skops_io.get_untrusted_types(data=data) == trusted_types(make_learner("best"))
    again = skops_io.loads(data, trusted=trusted_types(make_learner("best")))
    np.testing.assert_array_equal(again.predict_proba(X), pipeline.predict_proba(X))


@pytest.mark.parametrize("seed", [np.random.default_rng(0), np.random.RandomState(0)], ids=type)
def test_generators_and_requests_add_no_type(seed: Any) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_learner("i2cansay", random_state=seed).set_fit_request(sample_weight=True).fit(X, Y)
    assert skops_io.get_untrusted_types(data=skops_io.dumps(model)) == trusted_types(model)


def test_without_trust_nothing_is_loaded() -> None:
    data = skops_io.dumps(make_learner("ncm").fit(X, Y))
    with pytest.raises(Exception, match="NearestClassMean"):
        skops_io.loads(data, trusted=trusted_types(make_learner("slda")))


def test_a_forged_state_is_refused_when_it_is_loaded() -> None:
    model = make_learner("ncm").fit(X, Y)

    class Forged(type(model)):  # type: ignore[misc]
        def __getstate__(self) -> dict[str, Any]:
            taken: dict[str, Any] = super().__getstate__()
            taken["state"]["means.count"] = np.full(3, np.nan)
            return taken

    Forged.__name__, Forged.__module__ = type(model).__name__, type(model).__module__
    model.__class__ = Forged
    with pytest.raises(ValueError, match="not finite"):
        skops_io.loads(skops_io.dumps(model), trusted=trusted_types(make_learner("ncm")))
