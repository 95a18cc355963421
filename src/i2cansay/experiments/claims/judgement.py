"""From checked claims to verdicts: all claims of a family together, with Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import isnan, nan

from i2cansay.experiments.claims.checked_claim import CheckedClaim, Comparison
from i2cansay.experiments.claims.finding import Finding, Verdict
from i2cansay.experiments.claims.holm import holm

# The chance of any wrong verdict in a family.
ALPHA = 0.05


def judge(claims: Sequence[CheckedClaim]) -> list[Finding]:
    """Return a finding for each claim, in their order.

    A family is what is read together: claims of one kind, for one rule, on one encoder. For each claim there are up
    to two tests, against "it is false" and against "it is true"; Holm's correction is over all of them, so that at
    most 5% of families have any wrong "holds" or "does not hold". Only one of the two hypotheses about a claim can
    be true, which makes the correction smaller. What is not testable or vacuous is not tested; what is only not
    played to its end counts as tested, so that no verdict depends on what is finished first.
    """
    findings: dict[int, Finding] = {}
    for family in dict.fromkeys((each.family, each.where, each.encoder) for each in claims):
        places = [
            place for place, each in enumerate(claims) if (each.family, each.where, each.encoder) == family
        ]
        members = [claims[place] for place in places]
        findings |= zip(places, _judge_family(members), strict=True)
    return [findings[place] for place in range(len(claims))]


def _judge_family(members: Sequence[CheckedClaim]) -> list[Finding]:
    tests = [_tested(each) for each in members]
    tested = [p for p in chain.from_iterable(tests) if not isnan(p)]
    n_claims = sum(not all(map(isnan, pair)) for pair in tests)
    corrected = iter(holm(tested, most_true=n_claims))
    adjusted = [tuple(p if isnan(p) else next(corrected) for p in pair) for pair in tests]
    return [_finding(each, *pair) for each, pair in zip(members, adjusted, strict=True)]


def _tested(claim: CheckedClaim) -> tuple[float, float]:
    """Return the p-values of a claim: nan for what is not tested, 1 for what has to wait for its seeds."""
    if claim.vacuous:
        return nan, nan
    p_holds, p_fails = claim.p_holds, claim.p_fails
    waits = [each.can_decide and not each.has_seeds for each in claim.comparisons]
    if not claim.missing and any(waits) and all(each.can_decide for each in claim.comparisons):
        p_holds = 1.0
    return p_holds, 1.0 if isnan(p_fails) and any(waits) else p_fails


def _finding(claim: CheckedClaim, p_holds: float, p_fails: float) -> Finding:
    verdict, detail = _verdict(claim, p_holds, p_fails)
    return Finding(claim.claim, claim.says, claim.where, verdict, detail, claim.encoder)


def _verdict(claim: CheckedClaim, p_holds: float, p_fails: float) -> tuple[Verdict, str]:
    if claim.vacuous:
        return Verdict.VACUOUS, claim.vacuous
    if p_fails <= ALPHA:
        adjusted = claim.p_false_adjusted()
        lost = [claim.comparisons[place] for place, p in adjusted.items() if p <= ALPHA]
        count = f"{len(lost)} of {len(claim.comparisons)}: " if len(claim.comparisons) > 1 else ""
        return Verdict.FAILS, _detail(claim, count + _worst(lost), p_fails)
    if claim.missing:
        played = f" (played: {_worst(claim.comparisons)})" if claim.comparisons else ""
        return Verdict.UNTESTABLE, claim.lacks() + played
    if p_holds <= ALPHA:
        least = max(claim.comparisons, key=lambda each: each.p_true)
        text = str(least.difference) if len(claim.comparisons) == 1 else f"least: {least}"
        return Verdict.HOLDS, _detail(claim, text, p_holds)
    return Verdict.UNDECIDED, _undecided(claim, p_holds, p_fails)


def _undecided(claim: CheckedClaim, p_holds: float, p_fails: float) -> str:
    stuck = [each for each in claim.comparisons if each.why_open]
    if stuck:
        reasons = "; ".join([*dict.fromkeys(each.why_open for each in stuck), *filter(None, [claim.price()])])
        return _detail(claim, f"too little to decide ({reasons}): {_worst(stuck)}", nan)
    unclear = [each for each in claim.comparisons if each.p_true > ALPHA] or claim.comparisons
    p = min(value for value in (p_holds, p_fails) if not isnan(value))
    return _detail(claim, f"the runs do not decide: {_worst(unclear)}", p)


def _worst(comparisons: Sequence[Comparison]) -> str:
    """Return the three worst and how many more there are."""
    ordered = sorted(comparisons, key=lambda each: each.slack)
    more = f" and {len(ordered) - 3} more" if len(ordered) > 3 else ""
    return "; ".join(map(str, ordered[:3])) + more


def _detail(claim: CheckedClaim, text: str, p: float) -> str:
    parts = (claim.headline, text, "" if isnan(p) else p_text(p), claim.note)
    return "; ".join(part for part in parts if part)


def p_text(p: float) -> str:
    """Return an adjusted p-value in words.

    >>> p_text(0.0312), p_text(2e-9)
    ('p = 0.031', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.995 else "p = 1"
