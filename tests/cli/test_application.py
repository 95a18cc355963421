"""The help of every command is plain text that a person can read."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import docs
from i2cansay.cli import app

COMMANDS = [words[1:] for words, _ in docs._commands(app, ("i2cansay",))]
GROUPS = [(), ("data",), ("encoder",), ("token",)]


def shown(*words: str) -> str:
    result = CliRunner().invoke(app, list(words), prog_name="i2cansay", env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("words", [*COMMANDS, *GROUPS], ids=" ".join)
def test_help_names_no_types_of_python(words: tuple[str, ...]) -> None:
    text = shown(*words, "--help")
    assert text == shown(*words, "-h")
    assert text.startswith(f"Usage: {' '.join(('i2cansay', *words))}")
    assert not re.search(r"<(bool|str|int|float|path|list)|[{}│─]|  in the|\bNone\b", text)
    assert max(map(len, text.splitlines())) <= 100
    assert "-h, --help" in text


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_option_and_argument_of_a_command_is_explained(words: tuple[str, ...]) -> None:
    text = shown(*words, "-h")
    for section in re.findall(r"^(?:Arguments|Options):\n((?:  .*\n)+)", text, re.MULTILINE):
        entries = re.split(r"\n(?=  \S)", section.rstrip("\n"))
        for entry in entries:
            assert re.search(r"\S(?:  |\n)\s*\S", entry.strip()), f"{entry!r} has no meaning"


def test_numbers_have_their_limits_in_words() -> None:
    text = " ".join(shown("serve", "-h").split())
    assert "--port NUMBER Port to listen on. [default: 8000; 0 to 65535]" in text
    assert "at least 1]" in text


def test_the_first_page_has_every_command_once_with_a_whole_sentence() -> None:
    text = shown("-h")
    lines = re.split(r"\n(?=\S|  \S)", text)
    for name in {words[0] for words in COMMANDS}:
        (line,) = [line for line in lines if line.startswith(f"  {name} ")]
        assert line.rstrip().endswith("."), line
        assert "..." not in line


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_complete_the_command(shell: str) -> None:
    command = [sys.executable, "-m", "i2cansay", "--show-completion", shell]
    # Otherwise the shell is not the one named, but one that is searched for among the parents of the process.
    named = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    script = subprocess.run(command, capture_output=True, text=True, check=True, env=named).stdout
    assert "_I2CANSAY_COMPLETE" in script
    assert "python -m" not in script


def test_completion_names_commands_and_options() -> None:
    for typed, expected in (("i2cansay re", "reproduce"), ("i2cansay demo --str", "--stream")):
        environment = {
            "_I2CANSAY_COMPLETE": "complete_bash",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(typed.split()) - 1),
        }
        command = [sys.executable, "-m", "i2cansay"]
        found = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, **environment}
        )
        assert expected in found.stdout.split(), found.stderr
