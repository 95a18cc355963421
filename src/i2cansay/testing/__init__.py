"""The contract of a learner as checks that run, for our learners and for yours.

>>> from i2cansay import I2CANSAY
>>> print(check_learner(I2CANSAY()), "checks passed")
45 checks passed

With pytest, one test per check::

    @pytest.mark.parametrize(("name", "check"), list(learner_checks(MyLearner())))
    def test_contract(name, check):
        check()
"""

from collections.abc import Callable, Iterator
from functools import partial

from i2cansay.learners import learner_class
from i2cansay.learners.base import OnlineClassifier
from i2cansay.testing import (
    bad_input,
    construction,
    inputs,
    learning,
    memory,
    names,
    resuming,
    scores,
    sessions,
    verdicts,
)

Check = Callable[[OnlineClassifier], None]

CHECKS: tuple[Check, ...] = (
    construction.check_constructor_stores_untouched,
    construction.check_declarations,
    construction.check_untaught_learner_says_so,
    learning.check_returns_itself,
    learning.check_learns,
    learning.check_one_sample,
    learning.check_one_class,
    learning.check_late_class,
    learning.check_hard_streams_stay_finite,
    learning.check_same_seed_same_scores,
    learning.check_fit_begins_anew,
    learning.check_order_and_batches_do_not_matter,
    inputs.check_inputs_are_not_changed,
    inputs.check_inputs_are_not_held,
    inputs.check_layouts_and_types,
    inputs.check_scoring_changes_nothing,
    inputs.check_unit_weights,
    bad_input.check_bad_batch_changes_nothing,
    bad_input.check_bad_first_batch_changes_nothing,
    bad_input.check_bad_fit_keeps_what_was_learnt,
    bad_input.check_bad_question_is_refused,
    names.check_label_types,
    names.check_labels_of_growing_length,
    names.check_names_do_not_matter,
    names.check_classes_argument,
    names.check_rename,
    names.check_forget,
    scores.check_score_shapes,
    scores.check_predict_is_the_highest_score,
    scores.check_probabilities,
    verdicts.check_prediction_sets,
    verdicts.check_verdicts,
    verdicts.check_little_evidence_is_never_sure,
    verdicts.check_bytes_resume,
    verdicts.check_calibrating_teaches_nothing,
    verdicts.check_learns_alike_without_calibration,
    verdicts.check_merged_changes_no_part,
    resuming.check_state_is_plain_arrays,
    resuming.check_state_resumes,
    resuming.check_file_resumes,
    resuming.check_damaged_state_is_refused,
    memory.check_size_is_told_beforehand,
    memory.check_memory_is_flat,
    memory.check_no_sample_is_kept,
    sessions.check_sessions_are_told_to_whoever_declares_it,
    sessions.check_no_argument_tells_a_session,
)
"""All checks. Each makes new learners with the parameters of the one it is given."""

CLAIMED: dict[Check, Callable[[OnlineClassifier], bool]] = {
    learning.check_order_and_batches_do_not_matter: lambda learner: learner.order_free,
    verdicts.check_merged_changes_no_part: lambda learner: hasattr(learner, "merge"),
    memory.check_memory_is_flat: lambda learner: not learner.stores_samples,
    memory.check_no_sample_is_kept: lambda learner: not learner.stores_samples,
}
"""Checks of something that only some learners claim; they run for those."""


def small_learner(name: str) -> OnlineClassifier:
    """Return a new learner by name with its `small_parameters`, so that checks of it are fast."""
    kind = learner_class(name)
    return kind(**kind.small_parameters)


def learner_checks(learner: OnlineClassifier) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield every check that applies to `learner`, as a name and a function without arguments.

    A check raises AssertionError with a sentence if the contract is broken. It does not change `learner`.
    """
    for check in CHECKS:
        if check not in CLAIMED or CLAIMED[check](learner):
            yield check.__name__.removeprefix("check_"), partial(check, learner)


def check_learner(learner: OnlineClassifier) -> int:
    """Run every check that applies to `learner` and return how many there were.

    Raises
    ------
    AssertionError
        Naming every check that failed, and why.
    """
    failures: list[tuple[str, Exception]] = []
    n_checks = 0
    for name, check in learner_checks(learner):
        n_checks += 1
        try:
            check()
        except Exception as failure:
            failures.append((name, failure))
    if failures:
        lines = [f"{name}: {_sentence(failure)}" for name, failure in failures]
        text = f"{learner!r} breaks {len(failures)} of {n_checks} checks of its contract\n" + "\n".join(lines)
        raise AssertionError(text) from failures[0][1]
    return n_checks


def _sentence(failure: Exception) -> str:
    # An AssertionError comes from a check, any other error from the learner.
    return str(failure) if isinstance(failure, AssertionError) else f"{type(failure).__name__}: {failure}"
