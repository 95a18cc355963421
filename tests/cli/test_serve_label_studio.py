"""`i2cansay serve --label-studio`: the address and the token of a Label Studio."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from i2cansay.cli import app
from i2cansay.service.label_studio.connection import LabelStudio
from i2cansay.service.service import Service

run = CliRunner().invoke


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> list[LabelStudio | None]:
    """What services that would run know; they are closed at once."""
    found: list[LabelStudio | None] = []

    def run_nothing(service: Service, _: object, studio: LabelStudio | None) -> None:
        found.append(studio)
        service.close()

    monkeypatch.setattr("i2cansay.service.http.server.run", run_nothing)
    return found


def serve(folder: Path, *options: str) -> str:
    """Start a service; return what went wrong, else nothing."""
    done = run(app, ["serve", str(folder / "data"), "--encoder", "pixels", *options])
    return str(done.exception or "")


def test_address_and_token_are_told(tmp_path: Path, known: list[LabelStudio | None]) -> None:
    token = tmp_path / "token"
    token.write_text("  secret-of-studio\n")
    assert serve(tmp_path) == ""
    assert serve(tmp_path, "--label-studio", "http://studio:8080", "--label-studio-token", str(token)) == ""
    nobody, studio = known
    assert nobody is None
    assert studio is not None
    assert (studio.origin.host, studio.origin.port, studio.token) == ("studio", 8080, "secret-of-studio")
    assert "secret-of-studio" not in repr(studio)


@pytest.mark.parametrize(
    ("address", "content", "words"),
    [
        ("http://studio:8080", None, "--label-studio-token FILE"),
        ("http://studio:8080", "", "expected one token"),
        ("http://studio:8080", "two tokens", "expected one token"),
        ("studio", "one", "expected the address of Label Studio"),
        ("", "one", "expected the address of Label Studio"),
        ("http://me:secret@studio", "one", "the token goes into a file"),
    ],
)
def test_what_is_wrong_is_said_at_the_start(
    tmp_path: Path, known: list[LabelStudio | None], address: str, content: str | None, words: str
) -> None:
    options = ["--label-studio", address]
    if content is not None:
        (tmp_path / "token").write_text(content)
        options += ["--label-studio-token", str(tmp_path / "token")]
    assert words in serve(tmp_path, *options)
    assert known == []
