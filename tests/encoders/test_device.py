"""Where a network runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest

from i2cansay.encoders import get_encoder
from i2cansay.encoders.device import PROVIDERS, provider_of
from i2cansay.encoders.onnx_session import open_session

IMAGES = list(np.random.default_rng(0).integers(0, 256, (3, 40, 40, 3), dtype=np.uint8))


def test_the_device_is_no_part_of_the_fingerprint() -> None:
    by_name = get_encoder("efficientnet-lite0@32", device="CPUExecutionProvider")
    usual = get_encoder("efficientnet-lite0@32")
    assert by_name.fingerprint == usual.fingerprint
    assert np.array_equal(by_name.encode(IMAGES), usual.encode(IMAGES))


@pytest.mark.parametrize("device", ["abacus", "NoExecutionProvider"])
def test_a_device_that_is_not_there_is_refused_with_those_that_are(device: str) -> None:
    with pytest.raises(ValueError, match=rf"no device '{device}' here; this ONNX Runtime has .*cpu"):
        get_encoder("efficientnet-lite0", device=device)


def test_an_encoder_without_a_network_has_no_choice() -> None:
    with pytest.raises(ValueError, match="pixels leaves no choice of device"):
        get_encoder("pixels", device="cuda")


def test_short_names_are_those_of_the_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: list(PROVIDERS.values()))
    assert provider_of("cuda") == provider_of("CUDA") == provider_of("CUDAExecutionProvider")


def test_a_device_that_does_not_start_is_not_replaced_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """ONNX Runtime leaves out a provider whose libraries are missing, and runs on the CPU."""
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: list(PROVIDERS.values()))
    asked: list[list[str]] = []

    def session(graph: Any, options: Any, *, providers: list[str]) -> Any:
        asked.append(providers)
        return SimpleNamespace(get_providers=lambda: ["CPUExecutionProvider"])

    monkeypatch.setattr(onnxruntime, "InferenceSession", session)
    with pytest.raises(ValueError, match="the device 'cuda' could not be started"):
        open_session(b"", 1, "cuda")
    # What a device cannot do falls to the CPU.
    assert asked[-1] == ["CUDAExecutionProvider", "CPUExecutionProvider"]
