"""Fetching official files: size said first, hash checked, no network explained."""

from __future__ import annotations

import hashlib
import io
from typing import Any
from urllib.error import URLError

import pytest

from i2cansay.encoders.recipe import OfficialFile
from i2cansay.encoders.resnet import RESNET50
from i2cansay.encoders.vit_recipes import DEIT_TINY, VIT
from i2cansay.encoders.weight_download import choose_file, downloaded

DATA = bytes(range(256)) * 10_000
FILE = OfficialFile("weights.pth", "https://example.org/weights.pth", hashlib.sha256(DATA).hexdigest()[:8])


class Response(io.BytesIO):
    def __init__(self, data: bytes, length: int | None) -> None:
        super().__init__(data)
        self.headers = {} if length is None else {"Content-Length": str(length)}


def site(data: bytes, length: int | None) -> Any:
    def open_url(url: str, *, timeout: float) -> Response:
        assert url == FILE.url
        assert timeout > 0
        return Response(data, length)

    return open_url


def test_the_size_is_said_before_the_file_comes() -> None:
    said: list[str] = []
    with downloaded(RESNET50, FILE, said.append, site(DATA, len(DATA))) as path:
        assert path.name == "weights.pth"
        assert path.read_bytes() == DATA
    assert said == ["downloading weights.pth (2.6 MB) from https://example.org/weights.pth"]
    assert not path.exists()
    with downloaded(RESNET50, FILE, said.append, site(DATA, None)) as path:
        assert path.read_bytes() == DATA
    assert "size unknown" in said[1]


def test_another_hash_or_a_short_file_is_not_used() -> None:
    changed = DATA[:-1] + b"x"
    with (
        pytest.raises(ValueError, match=f"expected {FILE.sha256}"),
        downloaded(RESNET50, FILE, print, site(changed, len(changed))),
    ):
        pytest.fail("the file was used")
    with (
        pytest.raises(ConnectionError, match="stopped after"),
        downloaded(RESNET50, FILE, print, site(DATA[:-1], len(DATA))),
    ):
        pytest.fail("the file was used")


def test_without_a_network_it_says_what_to_get() -> None:
    def no_network(url: str, *, timeout: float) -> Response:
        raise URLError("no route to host")

    with (
        pytest.raises(ConnectionError, match=r"cannot reach .*resnet50-0676ba61.pth"),
        downloaded(RESNET50, RESNET50.files[0], print, no_network),
    ):
        pytest.fail("there was no file")


def test_the_file_can_be_chosen() -> None:
    assert choose_file(RESNET50).sha256 == "0676ba61"
    assert choose_file(RESNET50, "resnet50-11ad3fa6.pth").resize == 232
    assert choose_file(DEIT_TINY).sha256 == "a1311bcf"
    with pytest.raises(ValueError, match=r"resnet50 has the files .*resnet50-19c8e357.pth"):
        choose_file(RESNET50, "resnet50.pth")
    with pytest.raises(ValueError, match="no address to download vit from; vit needs a checkpoint"):
        choose_file(VIT)


def test_a_file_that_cannot_be_checked_is_used_with_a_warning() -> None:
    said: list[str] = []
    unchecked = OfficialFile(FILE.name, FILE.url)
    with downloaded(RESNET50, unchecked, said.append, site(DATA, len(DATA))) as path:
        assert path.read_bytes() == DATA
    assert len(said) == 2
    assert "names no checksum" in said[1]
    assert hashlib.sha256(DATA).hexdigest() in said[1]
