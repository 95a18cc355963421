"""Commands whose help is plain text: words in place of types, commands by what they are for.

typer draws its help in boxes, names types as Python does (`<list[Path]>`, `--help <bool>`) and imports a Markdown
parser for it. Versions differ in all of that; what is printed here does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

Function = TypeVar("Function", bound=Callable[..., Any])

# Both spellings of typer's: before 0.20 as click has it, then as Python does.
_TYPES = {
    r"<(?:list\[)?str(?:\])?>|TEXT": "TEXT",
    r"<(?:list\[)?(?:int|float)(?: range)?(?:\])?>|(?:INTEGER|FLOAT)(?: RANGE)?": "NUMBER",
    r"<(?:list\[)?[Pp]ath(?:\])?>|PATH": "PATH",
    r" <bool>": "",
}
_LIMITS = {r"(\S+)<=x<=(\S+?)(?=[;\]])": r"\1 to \2", r"x>=(\S+?)(?=[;\]])": r"at least \1"}


class Command(TyperCommand):
    """A command with its help in words."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what follows the command's name: `MODEL WHAT... [OPTIONS]`."""
        return [*(_argument_name(each) for each in self.params if _is_argument(each)), "[OPTIONS]"]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options, each with what it means."""
        parameters = self.get_params(ctx)
        _write(formatter, "Arguments", _arguments([each for each in parameters if _is_argument(each)], ctx))
        _write(formatter, "Options", _options([each for each in parameters if not _is_argument(each)], ctx))


class Group(TyperGroup):
    """Commands in sections, each with the whole first sentence of its help."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, by section, then the options."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            section = getattr(command, "rich_help_panel", None)
            title = section if isinstance(section, str) else "Commands"
            sections.setdefault(title, []).append((name, _first_sentence(command.help or "")))
        for title, rows in sections.items():
            _write(formatter, title, rows)
        _write(formatter, "Options", _options(self.get_params(ctx), ctx))


class Application(typer.Typer):
    """A `typer.Typer` of such commands; `-h` is `--help` everywhere.

    Examples
    --------
    >>> from typer.testing import CliRunner
    >>> app = Application(help="Tools for numbers.")
    >>> @app.command()
    ... def double(number: int) -> None:
    ...     "Print a number twice as large."
    ...     print(2 * number)
    >>> @app.command()
    ... def half(number: int) -> None:
    ...     "Print half a number."
    ...     print(number / 2)
    >>> CliRunner().invoke(app, ["double", "21"]).output
    '42\\n'
    >>> print(CliRunner().invoke(app, ["half", "-h"], prog_name="numbers").output)
    Usage: numbers half NUMBER [OPTIONS]
    <BLANKLINE>
      Print half a number.
    <BLANKLINE>
    Arguments:
      NUMBER  [required]
    <BLANKLINE>
    Options:
      -h, --help  Show this message and exit.
    <BLANKLINE>
    """

    def __init__(self, **options: Any) -> None:
        settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
        chosen = {"add_completion": False, "no_args_is_help": True, "context_settings": settings, **options}
        super().__init__(cls=Group, rich_markup_mode=None, pretty_exceptions_enable=False, **chosen)

    def command(self, name: str | None = None, **options: Any) -> Callable[[Function], Function]:
        """Return a decorator that adds a function as a command, as `typer.Typer.command` does."""
        return super().command(name, **{"cls": Command, **options})


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _argument_name(parameter: Any) -> str:
    name = f"{parameter.name.strip('_').upper()}{'...' if parameter.nargs != 1 else ''}"
    return name if parameter.required else f"[{name}]"


def _arguments(parameters: Sequence[Any], ctx: Any) -> Iterator[tuple[str, str]]:
    for parameter in parameters:
        if (record := parameter.get_help_record(ctx)) is not None:
            yield _argument_name(parameter).strip("[]"), record[1]


def _options(parameters: Sequence[Any], ctx: Any) -> Iterator[tuple[str, str]]:
    for parameter in parameters:
        if (record := parameter.get_help_record(ctx)) is None:
            continue
        name, meaning = record
        for pattern, word in _TYPES.items():
            name = re.sub(pattern, word, name)
        for pattern, words in _LIMITS.items():
            meaning = re.sub(pattern, words, meaning)
        yield name, meaning


def _write(formatter: Any, title: str, rows: Iterator[tuple[str, str]] | list[tuple[str, str]]) -> None:
    if lines := list(rows):
        with formatter.section(title):
            formatter.write_dl(lines)


def _first_sentence(text: str) -> str:
    first = " ".join(text.split("\n\n", maxsplit=1)[0].split())
    return re.split(r"(?<=\.)\s", first, maxsplit=1)[0]
