"""Frames of pandas and polars go in as they are: names of features are kept and checked, labels keep their type."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from i2cansay import ImageLearner, load
from i2cansay.learners import LEARNERS, make_learner
from i2cansay.testing import small_learner

X, Y = load_iris(return_X_y=True)
NAMES = ["a", "b", "c", "d"]
TEXTS = np.array(["setosa", "versicolor", "virginica"])[Y]


def pandas_frame(values: Any = X, names: list[str] = NAMES) -> Any:
    return pytest.importorskip("pandas").DataFrame(values, columns=names)


def polars_frame(values: Any = X, names: list[str] = NAMES) -> Any:
    return pytest.importorskip("polars").DataFrame(values, schema=names)


def seeded(name: str) -> Any:
    learner = small_learner(name)
    return learner.set_params(random_state=0) if "random_state" in learner.get_params() else learner


FRAMES = pytest.mark.parametrize(
    "frame", [pandas_frame, pytest.param(polars_frame, marks=pytest.mark.adapters)]
)


@FRAMES
@pytest.mark.parametrize("name", LEARNERS)
def test_a_frame_is_its_numbers_and_its_names(name: str, frame: Callable[..., Any]) -> None:
    from_frame = seeded(name).partial_fit(frame(), TEXTS)
    from_array = seeded(name).partial_fit(X, TEXTS)
    assert from_frame.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(from_frame.predict_proba(frame()), from_array.predict_proba(X))


@FRAMES
def test_other_names_or_another_order_are_refused(frame: Callable[..., Any], tmp_path: Path) -> None:
    model = make_learner("slda").partial_fit(frame(), TEXTS)
    model.save(tmp_path / "model")
    for taught in (model, load(tmp_path / "model")):
        for names in (NAMES[::-1], ["a", "b", "c", "e"]):
            with pytest.raises(ValueError, match="feature names should match"):
                taught.predict(frame(names=names))
            with pytest.raises(ValueError, match="feature names should match"):
                taught.partial_fit(frame(names=names), TEXTS)


@FRAMES
def test_missing_numbers_are_refused(frame: Callable[..., Any]) -> None:
    values = X.copy()
    values[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        make_learner("slda").partial_fit(frame(values), TEXTS)


@pytest.mark.adapters
def test_one_frame_may_be_of_pandas_and_the_next_of_polars() -> None:
    model = make_learner("slda").partial_fit(pandas_frame(X[::2]), TEXTS[::2])
    model.partial_fit(polars_frame(X[1::2]), polars_frame().select("a").to_series().cast(str)[1::2])
    assert set(TEXTS) < set(model.classes_)


@pytest.mark.adapters
def test_a_lazy_frame_has_to_be_collected() -> None:
    with pytest.raises(ValueError, match=r"got a LazyFrame; collect\(\) it first"):
        make_learner("slda").fit(polars_frame().lazy(), TEXTS)


@pytest.mark.parametrize(
    ("values", "dtype", "kind"),
    [
        (TEXTS, object, "U"),
        (TEXTS, "string", "U"),
        (TEXTS, "category", "U"),
        (Y, "category", "i"),
        (Y, "Int64", "i"),
        (Y, "UInt8", "i"),
        (Y > 0, "boolean", "b"),
        (Y > 0, bool, "b"),
        (Y, "float64", "f"),
    ],
)
def test_labels_of_pandas_keep_their_type(values: Any, dtype: Any, kind: str) -> None:
    pandas = pytest.importorskip("pandas")
    for labels in (pandas.Series(values, dtype=dtype), pandas.Series(values, dtype=dtype).array):
        model = make_learner("slda").fit(X, labels)
        assert model.classes_.dtype.kind == kind
        assert model.classes_.tolist() == np.unique(values).tolist()


@pytest.mark.adapters
@pytest.mark.parametrize(
    ("values", "dtype", "kind"),
    [
        (TEXTS, "String", "U"),
        (TEXTS, "Categorical", "U"),
        (TEXTS, "Enum", "U"),
        (Y, "Int64", "i"),
        (Y, "UInt8", "i"),
        (Y > 0, "Boolean", "b"),
    ],
)
def test_labels_of_polars_keep_their_type(values: Any, dtype: str, kind: str) -> None:
    polars = pytest.importorskip("polars")
    wanted = polars.Enum(sorted(set(TEXTS))) if dtype == "Enum" else getattr(polars, dtype)
    model = make_learner("slda").fit(X, polars.Series(values.tolist(), dtype=wanted))
    assert model.classes_.dtype.kind == kind
    assert model.classes_.tolist() == np.unique(values).tolist()


@pytest.mark.parametrize("dtype", ["object", "string", "category", "Int64"])
def test_a_missing_label_is_told(dtype: str) -> None:
    pandas = pytest.importorskip("pandas")
    values = [None, *(Y if dtype == "Int64" else TEXTS)[1:].tolist()]
    model = make_learner("slda")
    with pytest.raises(ValueError, match="in one batch"):
        model.fit(X, pandas.Series(values, dtype=dtype))
    assert model.state() == {}


def test_images_take_labels_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    images = [np.full((8, 8, 3), level, np.uint8) for level in (0, 250, 5, 255)]
    model = ImageLearner("pixels", "ncm")
    model.learn(images, pandas.Series(["dark", "bright"] * 2, dtype="category"))
    assert model.predict(images).tolist() == ["dark", "bright"] * 2
