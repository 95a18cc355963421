"""A bar on a terminal, nothing in a pipe."""

import io
import subprocess
import sys

import pytest

from i2cansay.evaluate import Moment, show_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_silent_where_there_is_no_terminal() -> None:
    pipe = io.StringIO()
    with show_progress("learning", file=pipe) as progress:
        assert progress is None
    assert pipe.getvalue() == ""


def test_a_terminal_sees_title_samples_and_accuracy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()
    with show_progress("ncm, seed 3", file=terminal) as progress:
        assert progress is not None
        progress(Moment(batches=1, n_batches=4, samples=50, accuracy=None))
        progress(Moment(batches=4, n_batches=4, samples=200, accuracy=0.875))
    assert "ncm, seed 3" in terminal.getvalue()
    assert "200 samples, 87.5%" in terminal.getvalue()


def test_a_pipe_does_not_import_rich() -> None:
    code = (
        "import sys\nfrom i2cansay.evaluate import show_progress\n"
        "with show_progress('x') as progress: print(progress, 'rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None", "False"]
    assert done.stderr == ""
