"""Which kernels are tried, and that a run on another kernel than the one asked for is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import kernels
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def oldest_kernel() -> kernels.Kernel:
    """The first kernel of the list, which every processor with OpenBLAS on x86 can execute."""
    first = kernels.KERNELS[0]
    if not first.flags <= kernels.flags_of_this_processor() or not set(
        kernels.probe({"OPENBLAS_CORETYPE": first.name}).kernels
    ) <= set(first.reported):
        pytest.skip("numpy and scipy have no OpenBLAS with kernels for x86 here")
    return first


def run(**environment: str) -> subprocess.CompletedProcess[str]:
    """Run a small test in a process with `environment`."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "src/i2cansay/core/statistics/linear_scores.py",
    ]
    changed = {**os.environ, **environment}
    return subprocess.run(command, cwd=ROOT, env=changed, capture_output=True, text=True, check=False)


def test_only_what_the_processor_can_execute_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    by_name = {kernel.name: kernel.reported[0] for kernel in kernels.KERNELS}
    monkeypatch.setattr(
        kernels, "probe", lambda wanted: kernels.Probed([by_name[wanted["OPENBLAS_CORETYPE"]]], "")
    )
    old = kernels.processor_flags("processor : 0\nflags\t\t: pni sse4_2 avx\nflags : avx2 fma\n")
    assert [kernel.name for kernel in kernels.usable(old)] == ["Prescott", "Nehalem", "Sandybridge"]
    assert kernels.usable(frozenset()) == []
    new = old | {"avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl"}
    assert kernels.usable(new) == kernels.KERNELS


def test_what_the_installed_library_replaces_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernels, "probe", lambda wanted: kernels.Probed(["Haswell"], ""))
    assert [kernel.name for kernel in kernels.usable(frozenset({"avx2", "fma"}))] == ["Haswell"]
    assert "Zen: not in the installed OpenBLAS, which uses Haswell in its place" in capsys.readouterr().out


def test_a_run_on_the_kernel_asked_for_passes(oldest_kernel: kernels.Kernel) -> None:
    result = run(**oldest_kernel.environment(1, ""))
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    "other",
    [{"I2CANSAY_KERNEL": "Nehalem"}, {"OPENBLAS_CORETYPE": "Prescot"}, {"OPENBLAS_NUM_THREADS": "2"}],
    ids=["another kernel", "a name that OpenBLAS ignores", "another number of threads"],
)
def test_a_run_on_something_else_is_refused(oldest_kernel: kernels.Kernel, other: dict[str, str]) -> None:
    if "OPENBLAS_NUM_THREADS" in other and (os.cpu_count() or 1) < 2:
        pytest.skip("one core has one thread")
    result = run(**{**oldest_kernel.environment(1, ""), **other})
    assert result.returncode == pytest.ExitCode.USAGE_ERROR
    assert "expected every BLAS to use" in result.stderr
    assert "passed" not in result.stdout


def test_a_failing_kernel_is_named_and_the_others_still_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen, started = kernels.KERNELS[:3], []

    def fails_on_nehalem(command: list[str], *, env: dict[str, str], **_: object) -> object:
        started.append((env["OPENBLAS_CORETYPE"], env["OPENBLAS_NUM_THREADS"]))
        return subprocess.CompletedProcess(command, int(env["OPENBLAS_CORETYPE"] == "Nehalem"))

    monkeypatch.setattr(sys, "argv", ["kernels.py"])
    monkeypatch.setattr(kernels, "probe", lambda wanted: kernels.Probed(["Haswell"], "X86_V3"))
    monkeypatch.setattr(kernels, "usable", lambda flags: chosen)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(subprocess, "run", fails_on_nehalem)
    assert kernels.main() == 1
    assert started == [(kernel.name, threads) for kernel in chosen for threads in ("1", "2")]
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "failed on Nehalem, 1 BLAS thread; Nehalem, 2 BLAS threads"
    monkeypatch.setattr(sys, "argv", ["kernels.py", "--few"])
    started.clear()
    kernels.main()
    assert started == [("Nehalem", "1"), ("Sandybridge", "1")]
