"""Progress is drawn on a terminal, with images per second, and nowhere else."""

from __future__ import annotations

import io

import pytest

from i2cansay.cli.image_progress import image_progress


class Terminal(io.StringIO):
    """Text that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_images_per_second(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with image_progress("encoding", 40) as progress:
        assert progress is not None
        progress(20)
        progress(40)
    assert "images/s" in terminal.getvalue()
    assert "40/40" in terminal.getvalue()


def test_a_pipe_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr("sys.stderr", pipe)
    with image_progress("encoding", 40) as progress:
        assert progress is None
    assert pipe.getvalue() == ""
