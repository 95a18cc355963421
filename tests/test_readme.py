"""The shell blocks of the README run, in their order, in one folder, as a reader would type them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from i2cansay.learners.choices import CHOICES
from i2cansay.service.service import Service
from tests.cli.shell import good

pytest.importorskip("PIL")
pytest.importorskip("onnxruntime")
pytest.importorskip("fastapi")

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?P<left_out><!-- not run: .+? -->\n\n)?```bash\n(?P<lines>.*?)```", re.DOTALL)


def commands(*, left_out: bool = False) -> list[list[str]]:
    """Return the commands of the blocks that run, or of those left out, as lists of words."""
    blocks = [match["lines"] for match in BLOCK.finditer(README) if bool(match["left_out"]) == left_out]
    return [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]


@pytest.mark.slow
def test_the_commands_of_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / ".cache"))
    monkeypatch.delenv("I2CANSAY_DATA", raising=False)
    served: list[list[str]] = []

    def serve(service: Service, address: object, studio: object) -> None:
        """Note the models in place of serving them until somebody stops it; everything before is as always."""
        served.append(sorted(service.models))
        service.close()

    monkeypatch.setattr("i2cansay.service.http.server.run", serve)
    X, y = load_digits(return_X_y=True)
    np.savez("train.npz", X=X[:300] / 16, y=y[:300])  # "features of your own"
    np.savez("test.npz", X=X[300:400] / 16, y=y[300:400])
    printed = {}
    for program, *words in commands():
        assert program == "i2cansay"
        printed[words[0]] = good(*words)
    assert served == [["digits"], ["digits"]]
    assert float(re.findall(r"accuracy (\S+)% of 100", printed["test"])[0]) > 85, "about 98"
    assert len(re.findall(r"^digits/new/.*\b(?:sure|unsure|new)$", printed["predict"], re.MULTILINE)) == 20
    assert "taught   219 samples, 10 classes" in printed["info"], "200 and 20 more, and one taken back"
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "i2cansay-demo.png").exists()


def test_what_is_left_out_cannot_run_everywhere() -> None:
    assert {tuple(words[:2]) for words in commands(left_out=True)} == {
        ("pip", "install"),
        ("i2cansay", "--install-completion"),
        ("i2cansay", "reproduce"),
    }


def test_the_readme_offers_every_choice() -> None:
    for name in CHOICES:
        assert README.count(f"\n| `{name}` |") == 1
