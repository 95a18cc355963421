"""Names of encoders: one small grammar, one spelling for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from i2cansay.encoders import get_encoder, is_listed
from i2cansay.encoders.encoder_spec import EncoderSpec


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("pixels", EncoderSpec("pixels")),
        ("pixels@4", EncoderSpec("pixels", size=4)),
        ("a+stages", EncoderSpec("a", features="stages")),
        ("a+stages+mirror@128", EncoderSpec("a", "stages", "mirror", 128)),
        ("my.module:NAME+mirror", EncoderSpec("my.module:NAME", views="mirror")),
        ("c++/a@b.onnx", EncoderSpec("c++/a@b.onnx")),
        ("c++/a@b.ONNX+stages@64", EncoderSpec("c++/a@b.ONNX", features="stages", size=64)),
        (Path("nets/a+stages.onnx"), EncoderSpec("nets/a+stages.onnx")),
    ],
)
def test_names_with_their_options(text: str | Path, spec: EncoderSpec) -> None:
    assert EncoderSpec.parse(text) == spec


@pytest.mark.parametrize(
    "text",
    ["", "a+", "a@", "a@x", "a@0", "a@-3", "a@064", "a+mirror+stages", "a+stages+stages", "a+Stages", "+x"],
)
def test_what_is_no_name_is_shown_the_form(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"expected an encoder as NAME\[\+stages\|\+pixels\]\[\+mirror\]\[@SIZE\]"
    ):
        EncoderSpec.parse(text)


def test_the_name_and_the_arguments_mean_the_same() -> None:
    said, given = get_encoder("pixels+mirror@5"), get_encoder("pixels", views="mirror", size=5)
    assert said.fingerprint == given.fingerprint
    assert said.name == given.name == "pixels+mirror"
    again = get_encoder("pixels+mirror@5", views="mirror", size=5)
    assert again.fingerprint == said.fingerprint
    # An encoder's name and size open it again.
    assert get_encoder(said.name, size=said.preprocessing.size).fingerprint == said.fingerprint


def test_arguments_that_contradict_the_name_are_refused() -> None:
    with pytest.raises(ValueError, match="says size 5, and size=6 is given"):
        get_encoder("pixels@5", size=6)
    with pytest.raises(ValueError, match="says views mirror, and views=single is given"):
        get_encoder("pixels+mirror", views="single")


def test_only_names_of_the_lists_are_listed() -> None:
    assert is_listed("efficientnet-lite0+stages+mirror")
    for name in ("mine", "/etc/passwd", "../x.onnx+stages", "os:path", "pixels@4", "pixels+", ""):
        assert not is_listed(name)
