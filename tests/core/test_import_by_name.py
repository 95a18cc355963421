"""Names of a user's own: found, or refused with a sentence; nothing is imported that was not asked for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from i2cansay.core.import_by_name import import_by_name, is_import_name


@pytest.mark.parametrize("name", ["module:Class", "package.module:Class", "_a.b2:c_3", "größe:Maß"])
def test_what_is_a_name(name: str) -> None:
    assert is_import_name(name)


@pytest.mark.parametrize(
    "name",
    ["", "ncm", "step:5", ":Class", "module:", "a..b:C", "a/b:C", "a:B:c", "a:B.c", "../a:B", "C:\\a:B"],
)
def test_what_is_none(name: str) -> None:
    assert not is_import_name(name)
    with pytest.raises(ValueError, match=r'expected a name like "package\.module:Class", got'):
        import_by_name(name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])  # as a console script has it
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_module_of_the_current_folder_is_found_and_hides_nothing(folder: Path) -> None:
    (folder / "only_here_4711.py").write_text("THING = 7")
    (folder / "fractions.py").write_text("Fraction = None")
    assert import_by_name("only_here_4711:THING") == 7
    assert import_by_name("fractions:Fraction") is not None


def test_the_path_is_left_alone_where_it_is_not_needed(folder: Path) -> None:
    before = list(sys.path)
    import_by_name("fractions:Fraction")
    assert sys.path == before


@pytest.mark.parametrize(
    "name", ["nowhere_4711:Thing", "nowhere_4711.inside:Thing", "email.nowhere_4711:Thing"]
)
def test_a_module_that_is_not_there_is_named(name: str, folder: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no module \S*nowhere_4711 for"):
        import_by_name(name)


def test_what_a_module_itself_lacks_is_another_matter(folder: Path) -> None:
    (folder / "needy_4711.py").write_text("import missing_4712")
    with pytest.raises(ModuleNotFoundError, match="missing_4712"):
        import_by_name("needy_4711:Thing")


def test_a_name_that_a_module_lacks_comes_with_the_file_of_the_module(folder: Path) -> None:
    (folder / "wave.py").write_text("class Mine: pass")  # hidden by the standard library's
    with pytest.raises(ValueError, match=r"the module wave \(.*wave\.py\) has no Mine"):
        import_by_name("wave:Mine")
