"""Where a network runs: ONNX Runtime's execution providers by short names."""

from __future__ import annotations

from i2cansay.encoders.extra import import_extra

CPU = "cpu"
#: Short names; any other provider goes by the name that ONNX Runtime gives it.
PROVIDERS = {
    CPU: "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "directml": "DmlExecutionProvider",
    "rocm": "ROCMExecutionProvider",
}


class DeviceError(ValueError):
    """A device that is not there, or does not start."""


def provider_of(device: str) -> str:
    """Return the name of the execution provider of a device, if this ONNX Runtime has it.

    Examples
    --------
    >>> provider_of("cpu")
    'CPUExecutionProvider'
    >>> provider_of("abacus")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    i2cansay.encoders.device.DeviceError: there is no device 'abacus' here; this ONNX Runtime has ...
    """
    provider = PROVIDERS.get(device.lower(), device)
    there: list[str] = import_extra("onnxruntime").get_available_providers()
    if provider not in there:
        short = {provider: device for device, provider in PROVIDERS.items()}
        names = sorted(short.get(each, each) for each in there)
        raise DeviceError(
            f"there is no device {device!r} here; this ONNX Runtime has {', '.join(names)}; others come with "
            "another build of it, as the package onnxruntime-gpu"
        )
    return provider
