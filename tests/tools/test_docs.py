"""The page of the command line says what the commands say."""

from __future__ import annotations

import re
from typing import Any

import pytest
from typer.testing import CliRunner

import docs
from i2cansay.cli import app

PAGE = docs.command_line()
COMMANDS = [words for words, _ in docs._commands(app, ("i2cansay",))]


def section(words: tuple[str, ...]) -> str:
    return PAGE.split(f"## `{' '.join(words)}`\n")[1].split("\n## ")[0]


def test_every_command_is_on_the_page() -> None:
    names: list[Any] = [info.name or info.callback.__name__ for info in app.registered_commands]  # type: ignore[union-attr]
    groups = [info.name for info in app.registered_groups]
    assert {words[1] for words in COMMANDS} == {*names, *groups}
    assert ("i2cansay", "data", "get") in COMMANDS


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_page_names_exactly_the_options_of_a_command(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1", "TERMINAL_WIDTH": "200"}.items():
        monkeypatch.setenv(name, value)
    shown = CliRunner().invoke(app, [*words[1:], "--help"], env={"COLUMNS": "200"}).output
    options = set(re.findall(r"^ *(?:-\w, )?(--[a-z-]+)", shown, re.MULTILINE)) - {"--help"}
    assert set(re.findall(r"^\| `(--[a-z-]+)`", section(words), re.MULTILINE)) == options


def test_the_page_is_plain_and_loses_nothing() -> None:
    assert not re.search("[─│╭╰]", PAGE)
    assert "| `--from` | path |  | An archive" in PAGE
    assert "| `--seed` | whole number | `0` |" in PAGE
    assert "| `--again` | flag |" in PAGE
    assert "by default one of its name, in the first folder of I2CANSAY_DATA" in PAGE
    # Markdown drops what it takes for a tag.
    assert not re.search(r"<\w+>", re.sub(r"`[^`]*`", "", PAGE))
