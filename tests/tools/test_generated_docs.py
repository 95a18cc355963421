"""The README's table of learners says what the learners say of themselves."""

from __future__ import annotations

import sys

import pytest

import docs
from i2cansay.learners.closed_form.ncm import NearestClassMean


def test_the_table_is_stale_when_a_summary_changes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(docs, "DOCUMENTS", {"README.md": docs.readme})
    monkeypatch.setattr(sys, "argv", ["docs.py", "--check"])
    assert docs.main() == 0
    monkeypatch.setattr(NearestClassMean, "summary", "something else")
    assert docs.main() == 1
    assert "out of date: README.md" in capsys.readouterr().err
    monkeypatch.setattr(NearestClassMean, "summary", "")
    with pytest.raises(SystemExit, match="the learner ncm has no summary"):
        docs.main()
