import subprocess
import sys

import pytest

from i2cansay.datasets import DATASETS, get_dataset, get_definition


@pytest.mark.parametrize("name", DATASETS)
def test_every_entry_resolves_to_a_definition_of_its_name(name: str) -> None:
    definition = get_definition(name)
    assert definition.name == name
    assert definition.title
    assert all(download.md5 and download.url.startswith("http") for download in definition.downloads)


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"expected one of digits, cifar10, .*; got 'mnist'"):
        get_dataset("mnist")


def test_resolving_the_table_imports_no_image_or_parquet_library() -> None:
    script = (
        "import sys\n"
        "from i2cansay.datasets import DATASETS, get_definition\n"
        "before = set(sys.modules)\n"
        "for name in DATASETS: get_definition(name)\n"
        "print(sorted({'PIL', 'pyarrow', 'sklearn.datasets'} & (set(sys.modules) - before)))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_definition_of_your_own_goes_by_module_and_name() -> None:
    assert get_dataset("i2cansay.datasets.digits:DIGITS").n("test") == 445
    with pytest.raises(ValueError, match="expected fractions:Fraction to be a Definition, got"):
        get_definition("fractions:Fraction")
