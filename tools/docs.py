"""Write the documents that are made from the code, or with --check say which of them are out of date.

python tools/docs.py [--check]
"""

import ast
import os
import re
import sys
from pathlib import Path

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
    """Return the help of every command as one page."""
    # Fixed before click and rich are imported, so that the page does not depend on who makes it.
    os.environ.update(COLUMNS="100", TERM="dumb", NO_COLOR="1", TERMINAL_WIDTH="100")
    from typer.main import get_command
    from typer.testing import CliRunner

    from i2cansay.cli import app

    lines = ["# The command line", "", "Made by `make docs` from the commands' own help; do not edit.", ""]
    group = get_command(app)
    names: list[list[str]] = [[]]
    for name, command in sorted(group.commands.items()):  # type: ignore[attr-defined]
        names.append([name])
        names.extend([name, inner] for inner in sorted(getattr(command, "commands", {})))
    for words in names:
        result = CliRunner().invoke(app, [*words, "--help"], prog_name="i2cansay")
        text = "\n".join(line.rstrip() for line in result.output.strip().splitlines())
        lines += [f"## `{' '.join(['i2cansay', *words])}`", "", "```text", text, "```", ""]
    return "\n".join(lines)


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
        lines.append(f"| `{name}` | {learner.summary} | {'yes' if learner.stores_samples else 'no'} |")
    return "\n".join(lines) + "\n"


DOCUMENTS = {
    "docs/paper-to-code.md": paper_to_code,
    "docs/command-line.md": command_line,
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
