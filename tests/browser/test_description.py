"""The API against its own OpenAPI description, by schemathesis."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.service.material import make_image, rows
from tests.service.running import Starter

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "unsupported_method,allow_header_conformance"
)


# What these bodies may hold depends on the model, the learner or the file, which a schema cannot say.
DEPENDS = [
    "--exclude-name",
    "POST /v1/models",
    "--exclude-path-regex",
    "(learn|predict|test|import|setup|webhook)$",
]


@pytest.mark.parametrize(("checks", "options"), [(CHECKS, []), ("positive_data_acceptance", DEPENDS)])
def test_the_service_keeps_to_its_description(tmp_path: Path, checks: str, options: list[str]) -> None:
    starter = Starter(tmp_path / "data")
    running = starter()
    rng = np.random.default_rng(0)
    running.client.create("numbers", encoder=None).learn(["a", "b"] * 2, features=rows(["a", "b"] * 2, rng))
    running.client.create("line-3").learn("red", images=[make_image("red", rng), make_image("red", rng)])
    command = [
        str(Path(sys.executable).with_name("schemathesis")),
        "run",
        f"{running.client.url}/v1/openapi.json",
    ]
    command += [
        *options,
        "--checks",
        checks,
        "--max-examples",
        "40",
        "--seed",
        "1",
        "--suppress-health-check",
        "all",
    ]
    command += [
        "--phases",
        "examples,coverage,fuzzing",
        "--generation-database",
        "none",
        "--request-timeout",
        "20",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    starter.stop_all()
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
