import numpy as np
import pytest

from i2cansay import make_learner, merged
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.closed_form.gaussian_nb import OnlineGaussianNB
from i2cansay.learners.closed_form.ncm import NearestClassMean
from i2cansay.learners.closed_form.ranpac import RanPAC
from i2cansay.learners.closed_form.ridge import RecursiveRidge
from i2cansay.learners.closed_form.slda import StreamingLDA
from i2cansay.learners.merging import check_parts

Mergeable = NearestClassMean | OnlineGaussianNB | StreamingLDA | RecursiveRidge | RanPAC
LEARNERS: list[Mergeable] = [
    NearestClassMean(),
    OnlineGaussianNB(),
    StreamingLDA(),
    RecursiveRidge(),
    RanPAC(n_projections=20, random_state=0),
]


def fresh(like: Mergeable) -> Mergeable:
    return type(like)(**like.get_params())


def draw() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.array(["fox", "owl", "newt"])[np.arange(60) % 3]
    return rng.standard_normal((60, 4)) + np.arange(60)[:, None] % 3, y


def same_state(a: OnlineClassifier, b: OnlineClassifier) -> bool:
    mine, theirs = a.state(), b.state()
    return mine.keys() == theirs.keys() and all(np.array_equal(mine[name], theirs[name]) for name in mine)


@pytest.mark.parametrize("like", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_classes_only_one_of_them_knows_are_known_afterwards(like: Mergeable) -> None:
    X, y = draw()
    mine = fresh(like).partial_fit(X[y != "fox"], y[y != "fox"])
    other = fresh(like).partial_fit(X[y == "fox"], y[y == "fox"])
    before = other.state()
    mine.merge(other)
    whole = fresh(like).partial_fit(X, y)
    np.testing.assert_array_equal(mine.classes_, whole.classes_)
    np.testing.assert_allclose(mine.class_scores(X), whole.class_scores(X), rtol=1e-6, atol=1e-8)
    assert all(np.array_equal(before[name], array) for name, array in other.state().items())


@pytest.mark.parametrize("like", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_a_learner_that_knows_nothing_gives_and_takes(like: Mergeable) -> None:
    taught = fresh(like).partial_fit(*draw())
    assert same_state(fresh(like).merge(taught), taught)
    copy = fresh(like).set_state(taught.state())
    assert same_state(taught.merge(fresh(like)), copy)


@pytest.mark.parametrize("like", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_unfit_partners_are_refused_and_nothing_changes(like: Mergeable) -> None:
    X, y = draw()
    mine = fresh(like).partial_fit(X, y)
    before = fresh(like).set_state(mine.state())
    for other, sentence in (
        (mine, "another learner"),
        (fresh(like).partial_fit(X[:, :2], y), "width 2 into width 4"),
        (fresh(like).partial_fit(X, np.arange(60) % 2), "one type of label"),
    ):
        with pytest.raises(ValueError, match=sentence):
            mine.merge(other)
    assert same_state(mine, before)


def test_merged_equals_one_stream_and_changes_no_part() -> None:
    X, y = draw()
    parts = [make_learner("best", feature_transform="none").partial_fit(X[i::3], y[i::3]) for i in range(3)]
    before = [part.state() for part in parts]
    together = merged(parts)
    whole = make_learner("best", feature_transform="none").partial_fit(X, y)
    np.testing.assert_allclose(together.class_scores(X), whole.class_scores(X), rtol=1e-6, atol=1e-8)
    for part, state in zip(parts, before, strict=True):
        assert all(np.array_equal(part.state()[name], array) for name, array in state.items())


def test_parts_must_agree_before_they_are_taught() -> None:
    check_parts([make_learner("best", feature_transform="sqrt") for _ in range(2)])
    with pytest.raises(ValueError, match=r'part 2: feature_transform="auto" .* "sqrt"'):
        check_parts([make_learner("best") for _ in range(2)])
    with pytest.raises(ValueError, match=r"part 3: different projections \(n_projections\)"):
        check_parts([RanPAC(random_state=seed) for seed in (1, 1, 2)])
    with pytest.raises(ValueError, match=r"part 2: .*random_state None and None"):
        check_parts([RanPAC() for _ in range(2)])
    with pytest.raises(ValueError, match=r"part 2: .* differ in width \(512 and 256\); merge needs"):
        check_parts([make_learner("small", feature_transform="sqrt", width=w) for w in (512, 256)])
    with pytest.raises(ValueError, match=r"^a\.i2cs and c\.i2cs: different projections"):
        check_parts([RanPAC(random_state=seed) for seed in (1, 1, 2)], names=["a.i2cs", "b.i2cs", "c.i2cs"])
    with pytest.raises(ValueError, match="nothing to merge"):
        check_parts([])
    with pytest.raises(ValueError, match="Naive cannot be merged"):
        check_parts([make_learner("naive")])


def test_taught_parts_that_see_features_apart_are_named() -> None:
    one = make_learner("best").partial_fit([[1.0, 2.0], [3.0, 1.0]], ["a", "b"])
    other = make_learner("best").partial_fit([[-1.0, 2.0], [3.0, 1.0]], ["a", "b"])
    with pytest.raises(ValueError, match="part 2: one learner takes the square root"):
        merged([one, other])
