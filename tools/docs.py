"""Write the documents that are made from the code, or with --check say which of them are out of date.

python tools/docs.py [--check]
"""

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from performance_page import page as performance

ROOT = Path(__file__).parent.parent
PAPER = ROOT / "src" / "i2cansay" / "core" / "paper"
EQUATIONS = {
    1: "running prototype of a class",
    2: "running standard deviation by dimension",
    3: "deviation of a sample from its prototype",
    4: "pseudo-feature of an old class by analogy",
    5: "cross-entropy of samples plus beta times that of pseudo-features",
    6: "significance of each dimension for a class",
    7: "significance-weighted distance to the prototypes",
    8: "importance vector, the correction of the decision",
    9: "scores: softmax of the head plus the correction",
}
MARK = re.compile(r"#.*\bEq\. (\d)")


def paper_to_code() -> str:
    """Return the table from equation to function, from the marks in core/paper/."""
    rows = [row for path in sorted(PAPER.glob("*.py")) for row in marks(path)]
    missing = set(EQUATIONS) - {equation for equation, *_ in rows}
    if missing:
        raise SystemExit(f"no line in core/paper/ is marked for Eq. {sorted(missing)}")
    lines = [
        "# From the paper to the code",
        "",
        "Made by `make docs` from the marks `# Eq. n` in `src/i2cansay/core/paper/`; do not edit.",
        "",
        "| Eq. | what it says | function | line of code | tests |",
        "|---|---|---|---|---|",
    ]
    for equation, function, path, number, code in sorted(rows):
        where = f"[`{function}`](../{path.relative_to(ROOT).as_posix()}#L{number})"
        lines.append(f"| {equation} | {EQUATIONS[equation]} | {where} | `{code}` | {tests_of(equation)} |")
    return "\n".join(lines) + "\n"


def marks(path: Path) -> list[tuple[int, str, Path, int, str]]:
    """Return (equation, function, path, line number, code) for every marked line of a file."""
    source = path.read_text()
    functions = [
        (node.lineno, node.end_lineno or node.lineno, node.name)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
    ]
    found = []
    for number, line in enumerate(source.splitlines(), start=1):
        if match := MARK.search(line):
            inside = [name for start, stop, name in functions if start <= number <= stop]
            code = line.split("  #")[0].strip().replace("|", "\\|")
            found.append((int(match[1]), f"{path.stem}.{inside[-1]}", path, number, code))
    return found


def tests_of(equation: int) -> str:
    """Return how many tests carry the equation in their name, and in which file."""
    named = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        count = len(re.findall(rf"def test_\w*eq{equation}_|def test_eq1_to_eq9_", path.read_text()))
        if count:
            named[path.relative_to(ROOT).as_posix()] = count
    if not named:
        raise SystemExit(f"no test is named after Eq. {equation}")
    return ", ".join(f"[{count} in {Path(name).name}](../{name})" for name, count in named.items())


def command_line() -> str:
    """Return every command with its arguments and options as one page of Markdown."""
    from i2cansay.cli import app

    commands = list(_commands(app, ("i2cansay",)))
    lines = ["# The command line", "", "Made by `make docs` from the commands themselves; do not edit.", ""]
    for words, function in commands:
        first = re.split(r"(?<=\.)\s", _paragraphs(function)[0], maxsplit=1)[0]
        lines.append(f"- [`{' '.join(words)}`](#{'-'.join(words)}): {first}")
    lines += ["", "`--help` describes any of them, `i2cansay --version` says which version this is.", ""]
    for words, function in commands:
        lines += [f"## `{' '.join(words)}`", "", "```text", _usage(words, function), "```", ""]
        for paragraph in _paragraphs(function):
            lines += [paragraph, ""]
        lines += _table_of_parameters(function)
    return "\n".join(lines)


def _commands(app: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Callable[..., object]]]:
    """Yield all commands in order of their names, each with the words that call it."""
    inner = {info.name or info.callback.__name__: info for info in app.registered_commands}
    groups = {info.name: info.typer_instance for info in app.registered_groups}
    for name in sorted({*inner, *groups}):
        if name in inner:
            yield (*words, name), inner[name].callback
        else:
            yield from _commands(groups[name], (*words, name))


def _paragraphs(function: Callable[..., object]) -> list[str]:
    """Return the paragraphs of a docstring, with the commands in it as code."""
    paragraphs = [" ".join(part.split()) for part in (inspect.getdoc(function) or "").split("\n\n")]
    return [re.sub(r"(?<=: )(i2cansay .+?)(?=, and | and: |$)", r"`\1`", part) for part in paragraphs]


class Parameter:
    """An argument or option of a command: how it is written, and what the page says of it."""

    def __init__(self, parameter: inspect.Parameter, annotation: Any) -> None:
        self._type, self._info = get_args(annotation)[:2]
        self._default = parameter.default
        # Inside Annotated, typer keeps the first of the declared names where a default would be.
        words = (self._info.default, *(self._info.param_decls or ()))
        declared = [word for word in words if isinstance(word, str) and word.startswith("--")]
        self.is_argument = type(self._info).__name__ == "ArgumentInfo"
        self.is_required = parameter.default is inspect.Parameter.empty
        self.is_repeated = get_origin(self._type) is list
        option = declared[0] if declared else f"--{parameter.name.strip('_').replace('_', '-')}"
        self.name = parameter.name.upper() if self.is_argument else option

    @property
    def kind(self) -> str:
        """What is given: "path", "whole number, at least 1"; "flag" where nothing is."""
        one = next(kind for kind in (*get_args(self._type), self._type) if kind in KINDS)
        low, high = self._info.min, self._info.max
        limits = "" if low is None else f", at least {low}" if high is None else f", {low} to {high}"
        return f"{KINDS[one]}{limits}{', several' if self.is_repeated else ''}"

    @property
    def default(self) -> str:
        """What is taken without it, as code; nothing where that is nothing."""
        if self.is_required:
            return "required"
        values = self._default if isinstance(self._default, list) else [self._default]
        return " ".join(f"`{value}`" for value in values if value is not None and value is not False)

    @property
    def line(self) -> str:
        """The row of the table."""
        meaning = " ".join((self._info.help or "").split()).replace("|", "\\|")
        return f"| `{self.name}` | {self.kind} | {self.default} | {meaning} |"


KINDS = {Path: "path", str: "text", int: "whole number", float: "number", bool: "flag"}


def _parameters(function: Callable[..., object]) -> list[Parameter]:
    annotations = get_type_hints(function, include_extras=True)
    return [
        Parameter(each, annotations[name]) for name, each in inspect.signature(function).parameters.items()
    ]


def _usage(words: tuple[str, ...], function: Callable[..., object]) -> str:
    parts = list(words)
    parameters = _parameters(function)
    for parameter in parameters:
        if parameter.is_argument:
            parts.append(f"{parameter.name}{'...' if parameter.is_repeated else ''}")
        elif parameter.is_required:
            parts.append(f"{parameter.name} {parameter.kind.upper()}")
    if not all(parameter.is_argument for parameter in parameters):
        parts.append("[OPTIONS]")
    return " ".join(parts)


def _table_of_parameters(function: Callable[..., object]) -> list[str]:
    parameters = _parameters(function)
    if not parameters:
        return []
    head = ["| name | type | default | meaning |", "|---|---|---|---|"]
    return [*head, *(parameter.line for parameter in parameters), ""]


BEGIN, END = "<!-- learners: made by `make docs` -->\n", "<!-- end of learners -->\n"


def readme() -> str:
    """Return the README with the table of learners as the learners describe themselves."""
    text = (ROOT / "README.md").read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise SystemExit(f"README.md should have one line {BEGIN.strip()!r} and one {END.strip()!r}")
    before, rest = text.split(BEGIN)
    return before + BEGIN + learner_table() + END + rest.split(END)[1]


def learner_table() -> str:
    """Return the table of all learners: name, method, and whether it keeps samples."""
    from i2cansay.learners import LEARNERS, make_learner

    lines = ["| learner | what it is | keeps samples |", "|---|---|---|"]
    for name in LEARNERS:
        learner = make_learner(name)
        if not learner.summary:
            raise SystemExit(f"the learner {name} has no summary")
        summary = f"{learner.summary} (told sessions)" if learner.needs_boundaries else learner.summary
        lines.append(f"| `{name}` | {summary} | {'yes' if learner.stores_samples else 'no'} |")
    return "\n".join(lines) + "\n"


DOCUMENTS = {
    "docs/paper-to-code.md": paper_to_code,
    "docs/command-line.md": command_line,
    "docs/performance.md": performance,
    "README.md": readme,
}


def main() -> int:
    """Write or check every document; return the exit code."""
    stale = []
    for name, make in DOCUMENTS.items():
        path, text = ROOT / name, make()
        if "--check" in sys.argv:
            if not path.exists() or path.read_text() != text:
                stale.append(name)
        else:
            path.write_text(text)
    if stale:
        print(f"out of date: {', '.join(stale)}; run `make docs`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
