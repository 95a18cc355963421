"""Features from files a person made."""

from pathlib import Path

import numpy as np
import pytest

from i2cansay.features import load_features


def test_csv_columns_become_features_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text(
        "a,label,b\n1,x,2.5\n-3,y,4e-2\n\n", encoding="utf-8-sig"
    )  # a spreadsheet's mark in front
    file = load_features(path)
    X, y = file.X, file.labels()
    np.testing.assert_array_equal(X, [[1, 2.5], [-3, 0.04]])
    assert y.tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("cells", "expected"), [("1 2 10", [1, 2, 10]), ("1 2 x", ["1", "2", "x"]), ("01 2 3", ["01", "2", "3"])]
)
def test_labels_are_numbers_only_where_all_are_written_as_numbers(
    tmp_path: Path, cells: str, expected: list[object]
) -> None:
    path = tmp_path / "some.csv"
    path.write_text("label,a\n" + "".join(f"{cell},0\n" for cell in cells.split()))
    assert load_features(path).labels().tolist() == expected


def test_a_file_without_labels_can_be_asked_about_but_not_learnt_from(tmp_path: Path) -> None:
    table, archive = tmp_path / "some.csv", tmp_path / "some.npz"
    table.write_text("a,b\n1,2\n")
    np.savez(archive, X=np.ones((1, 2)))
    for path in (table, archive):
        file = load_features(path)
        assert file.X.shape == (1, 2)
        assert file.y is None
        with pytest.raises(ValueError, match="has no labels"):
            file.labels()


def test_what_is_wrong_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("label,a\nx,1\ny,\n")
    with pytest.raises(ValueError, match=r"line 3, column 'a': expected a number, got ''"):
        load_features(path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        load_features(tmp_path / "nowhere.csv")
    path.write_bytes(b"\xff\xfe\x00label")
    with pytest.raises(ValueError, match="not a CSV file"):
        load_features(path)
