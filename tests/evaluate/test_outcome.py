"""The outcome as a record."""

import json

import pytest

from i2cansay.evaluate import Checkpoint, Outcome
from i2cansay.evaluate.outcome import Label

CHECKPOINTS = (Checkpoint(0, 50, (0, 10), 50, 0), Checkpoint(1, 90, (9, 7), 90, 31))


def outcome_with(*classes: Label) -> Outcome:
    return Outcome(
        stream={"name": "step", "width": 0.5, "batches": None, "has_sessions": True},
        classes=classes,
        test_counts=(10, 10),
        new_classes=((1,), (0,)),
        checkpoints=CHECKPOINTS,
        every_session=True,
        learning_seconds=0.25,
        prediction_seconds=0.5,
        state_bytes=4096,
    )


@pytest.mark.parametrize("classes", [("cat", "Äpfel"), (3, 7), (0.5, 1.5), (False, True)])
def test_json_and_back_is_the_same(classes: tuple[Label, ...]) -> None:
    outcome = outcome_with(*classes)
    again = Outcome.from_dict(json.loads(json.dumps(outcome.to_dict())))
    assert again == outcome
    assert [type(label) for label in again.classes] == [type(label) for label in classes]


def test_dictionary_shares_nothing_with_the_outcome() -> None:
    outcome = outcome_with("cat", "dog")
    outcome.to_dict()["stream"]["name"] = "changed"
    assert outcome.stream["name"] == "step"


def test_other_keys_are_ignored() -> None:
    outcome = outcome_with("cat", "dog")
    assert Outcome.from_dict({**outcome.to_dict(), "commit": "abc", "metrics": {}}) == outcome


def test_a_missing_key_is_named() -> None:
    values = outcome_with("cat", "dog").to_dict()
    del values["test_counts"]
    with pytest.raises(ValueError, match="test_counts is missing; was it written by another version"):
        Outcome.from_dict(values)
    values = outcome_with("cat", "dog").to_dict()
    del values["checkpoints"][0]["correct"]
    with pytest.raises(ValueError, match="correct is missing"):
        Outcome.from_dict(values)


def test_groups_seen_grow_with_the_checkpoints() -> None:
    outcome = outcome_with("cat", "dog")
    assert [outcome.groups_seen(checkpoint) for checkpoint in CHECKPOINTS] == [((1,),), ((1,), (0,))]
