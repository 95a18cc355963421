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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of learners that need torch, and skip them where it is not there."""
    from importlib.util import find_spec

    from i2cansay.learners import LEARNERS, learner_class

    names = {name for name in LEARNERS if learner_class(name).extra == "torch"}
    missing = pytest.mark.skip(reason="needs the extra [torch]; run by `make test-torch`")
    for item in items:
        if _learner_of(item) in names or _shows_prompts(item):
            item.add_marker(pytest.mark.torch)
            if find_spec("torch") is None:
                item.add_marker(missing)


def _learner_of(item: pytest.Item) -> str:
    """Return the learner that a test is about: tests of all learners begin their parameters with its name."""
    callspec = getattr(item, "callspec", None)
    return "" if callspec is None else callspec.id.split("-")[0].split("[")[0]


def _shows_prompts(item: pytest.Item) -> bool:
    """Whether it is an example in a prompt method's docstring."""
    path = item.path.as_posix()
    return isinstance(item, pytest.DoctestItem) and (
        "/learners/prompts/" in path or path.endswith("session_prompts.py")
    )
