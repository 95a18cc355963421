"""What holds for every test and doctest: no deadlines, and the BLAS kernel that was asked for is the one in use."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is slow, not wrong.
settings.register_profile("any_machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any_machine")

# The examples of an adapter run where the package it is for is installed.
ADAPTERS = {
    "hugging_face": "datasets",
    "mlflow_tracking": "mlflow",
    "river_classifier": "river",
    "tensorboard_tracking": "tensorboard",
    "torch_loader": "torch",
}
collect_ignore = [
    f"src/i2cansay/adapters/{adapter}.py"
    for adapter, package in ADAPTERS.items()
    if find_spec(package) is None
]


def pytest_configure() -> None:
    """Refuse to run on another BLAS kernel or number of threads than tools/kernels.py asked for.

    OpenBLAS silently takes its own choice where it does not know the name in OPENBLAS_CORETYPE, so that without
    this a run on the wrong kernel would pass for one on the right kernel.
    """
    kernels, threads = os.environ.get("I2CANSAY_KERNEL"), os.environ.get("I2CANSAY_BLAS_THREADS")
    if kernels is None or threads is None:
        return
    import numpy  # noqa: F401  each of the two brings a BLAS of its own
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    in_use = [
        f"{library.get('architecture')}, {library['num_threads']} threads"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    ]
    wanted = [f"{kernel}, {threads} threads" for kernel in kernels.split("|")]
    if not in_use or not set(in_use) <= set(wanted):
        raise pytest.UsageError(f"expected every BLAS to use {' or '.join(wanted)}, got {in_use}")
