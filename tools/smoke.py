"""Try an installed i2cansay as its user would: run by tools/package.py in an environment and a folder of its own.

python -I smoke.py [extra ...]

The words are the extras that were installed. Only the package, its dependencies and Python itself are at hand.
"""

import json
import socket
import subprocess
import sys
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
from sklearn.datasets import load_digits

import i2cansay

EXTRAS = {"images": "PIL", "plot": "matplotlib", "serve": "fastapi"}
COMMAND = Path(sys.executable).with_name("i2cansay")


def require(condition: bool, message: str) -> None:
    """Stop with `message` unless the condition holds."""
    if not condition:
        sys.exit(f"smoke test: {message}")


def check_home(extras: list[str]) -> None:
    """The installed package is the one in use, and the extras are those asked for."""
    home = Path(i2cansay.__file__)
    require(home.is_relative_to(sys.prefix), f"i2cansay was imported from {home}, not from {sys.prefix}")
    there = [extra for extra, module in EXTRAS.items() if find_spec(module) is not None]
    require(sorted(extras) == sorted(there), f"expected the extras {extras}, got {there}")


def check_library() -> None:
    """Learn, save, load."""
    X, y = load_digits(return_X_y=True)
    model = i2cansay.I2CANSAY(random_state=0)
    for start in range(0, 1500, 50):
        model.partial_fit(X[start : start + 50] / 16, y[start : start + 50])
    accuracy = model.score(X[1500:] / 16, y[1500:])
    require(accuracy > 0.7, f"an accuracy of {accuracy} on digits")
    model.save("digits.i2cs")
    loaded = i2cansay.load("digits.i2cs")
    same = np.array_equal(loaded.class_scores(X[1500:] / 16), model.class_scores(X[1500:] / 16))
    require(same, "a loaded model gives other scores")


def check_command_line(extras: list[str]) -> None:
    """The command and the module say their version; the demo runs, or says what to install."""
    expected = f"i2cansay {version('i2cansay')}"
    for command in ([str(COMMAND)], [sys.executable, "-I", "-m", "i2cansay"]):
        said = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, check=True
        ).stdout.strip()
        require(said == expected, f"{command} --version said {said!r}, not {expected!r}")
    demo = subprocess.run([str(COMMAND), "demo", "--seeds", "1"], capture_output=True, text=True, check=False)
    said = demo.stdout + demo.stderr
    if {"images", "plot"} <= set(extras):
        require(demo.returncode == 0, f"the demo ended with {demo.returncode}: {said}")
        require(Path("i2cansay-demo.png").stat().st_size > 20_000, "the demo drew nothing")
    else:
        require(demo.returncode == 2, f"without the extras the demo ended with {demo.returncode}: {said}")
        require(
            'pip install "i2cansay[images,plot]"' in said, f"the demo does not say what to install: {said}"
        )
        require(len(said.splitlines()) == 1, f"the demo says more than a sentence: {said}")


def check_service() -> None:
    """A service on loopback becomes ready and ends when it is told to."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with subprocess.Popen([str(COMMAND), "serve", "data", "--port", str(port)]) as service:
        try:
            answer = healthz(service, port)
        finally:
            service.terminate()
    require(answer.get("status") == "alive", f"/healthz answered {answer}")


def healthz(service: subprocess.Popen[bytes], port: int) -> dict[str, object]:
    """Return what /healthz answers, once it does."""
    for _ in range(600):
        require(service.poll() is None, f"the service ended with {service.returncode}")
        try:
            with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as response:
                answer: dict[str, object] = json.load(response)
                return answer
        except (URLError, TimeoutError):
            time.sleep(0.2)
    sys.exit("smoke test: the service did not answer in two minutes")


def main() -> None:
    """Try everything that the extras given as words allow."""
    extras = sys.argv[1:]
    check_home(extras)
    check_library()
    check_command_line(extras)
    if "serve" in extras:
        check_service()
    print(f"i2cansay with {', '.join(extras) or 'no extras'}: works")


if __name__ == "__main__":
    main()
