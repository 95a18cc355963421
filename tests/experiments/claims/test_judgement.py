"""The rules of a verdict: each test breaks one, and the verdict must change."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from i2cansay.experiments.claims.checked_claim import SEEDS_NEEDED, CheckedClaim, Comparison, within
from i2cansay.experiments.claims.finding import PRINTED, Verdict
from i2cansay.experiments.claims.judgement import judge
from i2cansay.experiments.declare.declaration import DECLARED, VARIANT_SEEDS, load_table
from i2cansay.experiments.run.paired_difference import Difference, StandardError
from i2cansay.experiments.run.planning import NOT_BUILT
from tests.experiments.claims.made_records import (
    RELATIONS,
    Scenario,
    checked,
    found_in,
    kind_of,
    records_of,
)

TWENTY = 20


def difference(mean: float, error: float = 0.1, n: int = TWENTY, *, rows: float = 0.0) -> Difference:
    """Return a difference with an error of the seeds and one of the test rows."""
    return Difference(mean, n, (StandardError(error, n - 1), StandardError(rows, 9999)), 0.5, error > 0)


def comparison(mean: float, error: float = 0.1, n: int = TWENTY, *, planned: int | None = None) -> Comparison:
    return Comparison("ours against theirs", difference(mean, error, n), n if planned is None else planned)


def claim(name: str, *comparisons: Comparison, missing: bool = False) -> CheckedClaim:
    lack = {NOT_BUILT: ("a rival",)} if missing else {}
    return CheckedClaim(name, name, PRINTED, "eyes", comparisons, lack)


def verdict_on(*comparisons: Comparison, missing: bool = False) -> Verdict:
    return judge([claim("alone", *comparisons, missing=missing)])[0].verdict


def test_clear_differences_decide() -> None:
    assert verdict_on(comparison(+1.0)) == Verdict.HOLDS
    assert verdict_on(comparison(-1.0)) == Verdict.FAILS
    assert verdict_on(comparison(+0.05)) == Verdict.UNDECIDED


@pytest.mark.parametrize("mean", [+30.0, -30.0])
@pytest.mark.parametrize("n", range(1, SEEDS_NEEDED))
def test_fewer_than_five_seeds_never_decide(n: int, mean: float) -> None:
    assert verdict_on(comparison(mean, 1e-3, n)) == Verdict.UNDECIDED
    assert verdict_on(comparison(mean, 1e-3, SEEDS_NEEDED)) != Verdict.UNDECIDED


@pytest.mark.parametrize("mean", [+30.0, -30.0])
def test_a_run_that_was_stopped_early_does_not_decide(mean: float) -> None:
    """Whoever may stop when something is decided decides something in the end."""
    assert verdict_on(comparison(mean, 1e-3, 12, planned=20)) == Verdict.UNDECIDED
    assert verdict_on(comparison(mean, 1e-3, 12, planned=12)) != Verdict.UNDECIDED


def test_stopping_early_and_four_seeds_are_told() -> None:
    found = judge([claim("a", comparison(9, 0.1, 12, planned=20)), claim("b", comparison(9, 0.1, 4))])
    assert "12 of 20 declared seeds" in found[0].detail
    assert "4 declared seeds of the 5 needed" in found[1].detail


@pytest.mark.parametrize("mean", [+0.2, -0.2])
def test_an_interval_without_width_is_no_evidence(mean: float) -> None:
    still = Comparison("session 1", difference(mean, 0.0), TWENTY)
    (found,) = judge([claim("still", still)])
    assert found.verdict == Verdict.UNDECIDED
    assert "the same difference with every seed" in found.detail


def test_what_does_not_vary_neither_holds_nor_hides_a_loss() -> None:
    still = Comparison("session 1", difference(+3.0, 0.0), TWENTY)
    assert verdict_on(still, comparison(+1.0)) == Verdict.UNDECIDED
    assert verdict_on(still, comparison(-1.0)) == Verdict.FAILS


def test_many_comparisons_need_stronger_evidence_to_fail_a_claim() -> None:
    """One of twenty comparisons is below 0 with p = 0.01: by chance that happens to one claim in five."""
    slightly = comparison(-0.254)
    assert slightly.p_false == pytest.approx(0.01, rel=0.1)
    assert verdict_on(slightly) == Verdict.FAILS
    others = [comparison(+0.1)] * 19
    assert verdict_on(slightly, *others) == Verdict.UNDECIDED
    assert verdict_on(comparison(-1.0), *others) == Verdict.FAILS


def test_all_comparisons_have_to_hold_and_none_is_corrected_for_that() -> None:
    slightly = comparison(+0.254)
    assert verdict_on(*[slightly] * 20) == Verdict.HOLDS
    assert verdict_on(*[comparison(+1.0)] * 20, comparison(+0.1)) == Verdict.UNDECIDED


@pytest.mark.parametrize("mean", [+0.254, -0.254])
def test_many_claims_need_stronger_evidence_each(mean: float) -> None:
    """Alone it is decided; among nine others that are judged with it, it is not."""
    slightly = claim("slightly", comparison(mean))
    assert judge([slightly])[0].verdict != Verdict.UNDECIDED
    unclear = [claim(str(number), comparison(0.01)) for number in range(9)]
    assert judge([slightly, *unclear])[0].verdict == Verdict.UNDECIDED
    elsewhere = [replace(each, family="another") for each in unclear]
    assert judge([slightly, *elsewhere])[0].verdict != Verdict.UNDECIDED, "families do not mix"
    other_rule = [replace(each, where="ours, significance=False") for each in unclear]
    assert judge([slightly, *other_rule])[0].verdict != Verdict.UNDECIDED


def test_what_is_undecided_for_want_of_seeds_has_a_price() -> None:
    runs = {("rival", "column", seed): 600.0 for seed in range(3)}
    waiting = replace(comparison(9, 0.1, 17, planned=TWENTY), waiting=runs)
    also = replace(waiting, waiting={("rival", "column", 2): 600.0, ("rival", "other", 2): 60.0})
    (found,) = judge([claim("a", waiting, also)])
    assert "17 of 20 declared seeds; 4 more runs, about 0.5 hours of one process" in found.detail
    (few,) = judge([claim("a", replace(waiting, waiting={("rival", "other", 2): 60.0}))])
    assert "1 more runs, about 1 minutes" not in few.detail
    assert "1 more run, about 1 minute of one process" in few.detail


def test_what_is_still_to_be_played_counts_as_it_will_when_it_is() -> None:
    """Else it would depend on what is finished first whether something is decided."""
    slightly, waiting = comparison(-0.254), comparison(0.0, 0.1, 3, planned=TWENTY)
    assert verdict_on(slightly) == Verdict.FAILS
    assert verdict_on(slightly, *[waiting] * 9) == Verdict.UNDECIDED
    slightly = comparison(0.254)
    found = judge([claim("now", slightly), *[claim("later", waiting)] * 9])
    assert found[0].verdict == Verdict.UNDECIDED
    never = comparison(0.0, 0.1, 3)
    assert judge([claim("now", slightly), *[claim("never", never)] * 9])[0].verdict == Verdict.HOLDS


def test_claims_that_cannot_be_tested_cost_nothing() -> None:
    slightly = claim("slightly", comparison(0.254))
    vacuous = replace(claim("v", comparison(0.0)), vacuous="nothing changes")
    idle = [claim("few", comparison(1, 0.1, 3)), claim("none", missing=True), vacuous]
    found = judge([slightly, *idle * 5])
    assert [each.verdict for each in found[:4]] == [
        Verdict.HOLDS,
        Verdict.UNDECIDED,
        Verdict.UNTESTABLE,
        Verdict.VACUOUS,
    ]


def test_wrong_verdicts_are_rare_in_a_whole_family() -> None:
    """Twenty claims, all of them on the edge: without a correction two in three families would be wrong."""
    rng = np.random.default_rng(4)
    wrong = uncorrected = 0
    trials, n, n_claims = 200, 6, 20
    for _ in range(trials):
        runs = rng.normal(size=(n_claims, n))  # every true difference is 0: "above 0" is false of each
        errors = runs.std(axis=1, ddof=1) / np.sqrt(n)
        family = [
            claim(str(place), comparison(float(runs[place].mean()), float(errors[place]), n))
            for place in range(n_claims)
        ]
        wrong += any(each.verdict == Verdict.HOLDS for each in judge(family))
        uncorrected += any(judge([each])[0].verdict == Verdict.HOLDS for each in family)
    assert wrong / trials < 0.1
    assert uncorrected / trials > 0.4


def test_no_difference_is_claimed_only_within_its_margin() -> None:
    """A noisy difference of about nothing is not evidence that there is none."""
    known, vague, large = (difference(mean, error) for mean, error in ((0.1, 0.1), (0.1, 2.0), (3.0, 0.1)))
    assert verdict_on(*within("a", "b", known, TWENTY, 1.0)) == Verdict.HOLDS
    assert verdict_on(*within("a", "b", vague, TWENTY, 1.0)) == Verdict.UNDECIDED
    assert verdict_on(*within("a", "b", large, TWENTY, 1.0)) == Verdict.FAILS
    assert verdict_on(*within("a", "b", large.reversed(), TWENTY, 1.0)) == Verdict.FAILS


def test_the_noise_of_the_test_rows_counts() -> None:
    seeds_alone, with_rows = difference(1.0), difference(1.0, rows=1.0)
    assert verdict_on(Comparison("", seeds_alone, TWENTY)) == Verdict.HOLDS
    assert verdict_on(Comparison("", with_rows, TWENTY)) == Verdict.UNDECIDED


def columns_of(name: str) -> list[str]:
    return [column.name for column in RELATIONS[name].declaration().columns]


def steps(name: str, values: Sequence[float]) -> Scenario:
    columns = columns_of(name)
    return lambda row, column: (values[columns.index(column) % len(values)], columns.index(column))


def memories(row: str, column: str) -> tuple[float, int] | None:
    """Every rival gains 20 points from 1k to 5k."""
    gain = {"1k": 0, "2k": 100, "5k": 200}
    name, _, memory = row.partition("_")
    return (500 + gain[memory], kind_of(row)) if memory in gain and name != "er" else None


@pytest.mark.parametrize(
    ("name", "scenario"),
    [
        ("flat-in-memory", steps("flat-in-memory", [600, 601, 602, 603])),
        ("generation-saturates", steps("generation-saturates", [590, 595, 598, 600, 600, 600])),
        ("rivals-depend-on-memory", memories),
        ("step-or-gaussian", steps("step-or-gaussian", [600])),
    ],
)
def test_every_kind_of_claim_knows_that_the_test_set_is_finite(name: str, scenario: Scenario) -> None:
    """The same accuracies over the same seeds: decided on a million test rows, open on thirty."""
    table = RELATIONS[name].table
    many, few = (records_of(table, scenario, n_test=rows) for rows in (1_000_000, 30))
    assert found_in(name, many)[PRINTED].verdict == Verdict.HOLDS, found_in(name, many)[PRINTED].detail
    assert found_in(name, few)[PRINTED].verdict == Verdict.UNDECIDED, found_in(name, few)[PRINTED].detail


@pytest.mark.parametrize("seeds", [range(4), range(19)])
@pytest.mark.parametrize("name", ["flat-in-memory", "best-beta", "step-or-gaussian", "ican-over-baseline"])
def test_records_of_fewer_seeds_than_declared_decide_nothing(name: str, seeds: range) -> None:
    values = {"best-beta": [600, 620, 640, 700, 640, 620]}.get(name, [600, 602])
    scenario: Scenario = steps(name, values)
    if name == "ican-over-baseline":
        scenario = lambda row, column: (600, 1) if row == "ican" else (500, 2)  # noqa: E731
    table = RELATIONS[name].table
    assert found_in(name, records_of(table, scenario))[PRINTED].verdict == Verdict.HOLDS
    assert found_in(name, records_of(table, scenario, seeds))[PRINTED].verdict == Verdict.UNDECIDED


def test_further_seeds_are_not_looked_at() -> None:
    """What was not declared cannot turn a verdict."""

    def scenario(row: str, column: str) -> tuple[float, int]:
        return (510, 1) if row == "ican" else (500, 2)

    def turned(row: str, column: str) -> tuple[float, int]:
        return (100, 1) if row == "ican" else (500, 2)

    declared = records_of("table4", scenario)
    more = records_of("table4", turned, range(20, 60))
    name = "ican-over-baseline"
    assert checked(name, [*declared, *more])[0] == checked(name, declared)[0]


def test_every_row_that_a_claim_names_is_declared_with_enough_seeds() -> None:
    assert VARIANT_SEEDS >= SEEDS_NEEDED
    for name in DECLARED:
        table = load_table(name)
        assert table.seeds >= SEEDS_NEEDED
        for block in table.blocks:
            for row in block.rows:
                assert row.seeds is None or row.seeds >= SEEDS_NEEDED, (name, row.name)
