"""Run the numerical tests on every OpenBLAS kernel that this processor can execute, with one and two threads.

python tools/kernels.py [--few]

OpenBLAS has a kernel for each generation of processors, and each adds up in another order: what a test asks for has
to hold on all of them. conftest.py makes sure in the test process that the kernel asked for is the one in use. With
a kernel from before AVX2 numpy's own vector code is switched off as well, as it would be on such a processor.

With --few it is doctests, guides and learners on the two newest kernels that are not the machine's own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
FEW = ["src", "tests/test_docs.py", "tests/learners"]
NUMERICAL = [
    *FEW,
    "tests/core",
    "tests/evaluate",
    "tests/image_learner",
    "tests/streams",
    "tests/testing",
    "tests/test_contract.py",
    "tests/test_sklearn.py",
]


@dataclass(frozen=True)
class Kernel:
    """A kernel of OpenBLAS: its name, what threadpoolctl may call it, and the processor flags it needs."""

    name: str
    reported: tuple[str, ...]
    flags: frozenset[str]

    @property
    def has_avx2(self) -> bool:
        return "avx2" in self.flags

    def environment(self, threads: int, simd: str) -> dict[str, str]:
        """Return the environment that asks for this kernel, and makes conftest.py look whether it came."""
        return {
            "OPENBLAS_CORETYPE": self.name,
            "OPENBLAS_NUM_THREADS": str(threads),
            "I2CANSAY_KERNEL": "|".join(self.reported),
            "I2CANSAY_BLAS_THREADS": str(threads),
            **({} if self.has_avx2 else {"NPY_DISABLE_CPU_FEATURES": simd}),
        }


# From the oldest to the newest. A Prescott is reported as the first of the older names that share its kernel.
KERNELS = [
    Kernel("Prescott", ("Prescott", "Katmai"), frozenset({"pni"})),
    Kernel("Nehalem", ("Nehalem",), frozenset({"sse4_2"})),
    Kernel("Sandybridge", ("Sandybridge",), frozenset({"avx"})),
    Kernel("Haswell", ("Haswell",), frozenset({"avx2", "fma"})),
    Kernel("Zen", ("Zen",), frozenset({"avx2", "fma"})),
    Kernel("SkylakeX", ("SkylakeX",), frozenset({"avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl"})),
]

PROBE = """
import json, numpy, scipy.linalg, threadpoolctl
blas = [library for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas"]
simd = numpy.show_config(mode="dicts").get("SIMD Extensions", {}).get("found", [])
kernels = sorted({str(library.get("architecture")) for library in blas})
print(json.dumps({"kernels": kernels, "simd": " ".join(simd)}))
"""


@dataclass(frozen=True)
class Probed:
    """What a fresh Python uses: the kernels of its BLAS libraries and numpy's vector extensions."""

    kernels: list[str]
    simd: str


def probe(environment: Mapping[str, str]) -> Probed:
    """Start a Python with `environment` on top of this one's and ask it what it uses."""
    command = [sys.executable, "-c", PROBE]
    answer = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return Probed(**json.loads(answer.stdout))


def processor_flags(cpuinfo: str) -> frozenset[str]:
    """Return the flags of the first processor in the text of /proc/cpuinfo.

    Examples
    --------
    >>> sorted(processor_flags("model name : x\\nflags : sse4_2 avx\\n"))
    ['avx', 'sse4_2']
    """
    found = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    return frozenset(found[1].split()) if found else frozenset()


def flags_of_this_processor() -> frozenset[str]:
    """Return the flags of the processor this runs on, none where Linux does not tell."""
    cpuinfo = Path("/proc/cpuinfo")
    return processor_flags(cpuinfo.read_text()) if cpuinfo.exists() else frozenset()


def usable(flags: frozenset[str]) -> list[Kernel]:
    """Return the kernels that the processor can execute and the installed OpenBLAS has, and name the others."""
    kernels = []
    for kernel in KERNELS:
        if not kernel.flags <= flags:
            print(f"{kernel.name}: not on this processor, it needs {' '.join(sorted(kernel.flags - flags))}")
        elif not set(used := probe({"OPENBLAS_CORETYPE": kernel.name}).kernels) <= set(kernel.reported):
            print(
                f"{kernel.name}: not in the installed OpenBLAS, which uses {' and '.join(used)} in its place"
            )
        else:
            kernels.append(kernel)
    return kernels


def run(kernel: Kernel, threads: int, tests: list[str], simd: str) -> str | None:
    """Run the tests on one kernel; return what to say at the end if they fail."""
    name = f"{kernel.name}, {threads} BLAS thread{'s' if threads > 1 else ''}"
    print(f"== {name}", flush=True)
    start = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", *tests]
    environment = {**os.environ, **kernel.environment(threads, simd)}
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    print(f"== {name}: {'passed' if code == 0 else 'FAILED'} in {time.monotonic() - start:.0f} s", flush=True)
    return name if code else None


def main() -> int:
    """Run what was asked for and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--few", action="store_true", help="doctests, guides and learners on two other kernels"
    )
    few = parser.parse_args().few
    own, kernels = probe({}), usable(flags_of_this_processor())
    if not kernels:
        print(
            f"no other kernel than this machine's own, {' and '.join(own.kernels)}, is known: nothing was run"
        )
        return 0
    threads = [1] if few or (os.cpu_count() or 1) < 2 else [1, 2]
    if few:
        kernels = [kernel for kernel in kernels if not set(own.kernels) & set(kernel.reported)][-2:]
    tests = FEW if few else NUMERICAL
    runs = [run(kernel, number, tests, own.simd) for kernel in kernels for number in threads]
    failed = [name for name in runs if name is not None]
    print(f"failed on {'; '.join(failed)}" if failed else f"all {len(runs)} runs passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
