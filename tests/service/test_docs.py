"""What docs/service.md says is so."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from i2cansay.service.access.middleware import WRONG_TOKENS_AT_ONCE
from i2cansay.service.http.app import create_app
from i2cansay.service.label_studio.predicting import TOGETHER_BYTES
from i2cansay.service.limits import Limits
from i2cansay.service.model.class_map import MOST_CLASSES
from i2cansay.service.model.confusion import MOST_PAIRS
from i2cansay.service.model.curve import HALF_LIFE, MOST
from i2cansay.service.model.share_interval import Z
from i2cansay.service.model.transaction import LESSON_BYTES
from i2cansay.service.model.waiting import COPIES
from tests.service.material import make_image
from tests.service.running import Running

TEXT = (Path(__file__).parents[2] / "docs" / "service.md").read_text()


def test_the_example_runs(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    running.client.create("first")
    rng = np.random.default_rng(0)
    monkeypatch.chdir(tmp_path)
    for name, colour in {"scratch-1": "red", "scratch-2": "red", "dent-1": "blue", "dent-2": "blue"}.items():
        Path(f"{name}.jpg").write_bytes(make_image(colour, rng, kind="JPEG"))
    Path("what-is-this.jpg").write_bytes(make_image("blue", rng, kind="JPEG"))
    example, packed = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(example.replace("http://127.0.0.1:8000", running.client.url), names)
    names["model"].client.close()  # type: ignore[attr-defined]
    assert capsys.readouterr().out.startswith("dent ")
    running.client.create("vibration", encoder=None).learn("bearing", features=rng.normal(size=(2, 1280)))
    exec(packed.replace("http://127.0.0.1:8000", running.client.url), {})
    assert capsys.readouterr().out == "bearing\n"


def test_every_path_of_the_api_is_named(shared: Running) -> None:
    for path in create_app(shared.service).openapi()["paths"]:
        assert path.replace("/v1/models/{name}/", ".../") in TEXT, path


def test_the_scope_of_every_route_is_as_described(shared: Running) -> None:
    table = [
        line.split(" | ") for line in TEXT.splitlines() if line.startswith(("| `GET", "| `POST", "| `DELETE"))
    ]
    written = {
        (method, path): scope
        for routes, scope, _ in table
        for method, path in _routes(routes.replace("...", "/v1/models/{name}"))
    }
    described = {
        (method.upper(), path): content.get("security", [{"token": ["none"]}])[0]["token"][0]
        for path, methods in create_app(shared.service).openapi()["paths"].items()
        for method, content in methods.items()
    }
    assert {route: written.get(route) for route in described} == described


def _routes(cell: str) -> list[tuple[str, str]]:
    """Return the methods and paths in a cell; a path without a method has that of the one before."""
    found, method = [], ""
    for words in re.findall(r"`([^`]+)`", cell):
        method = words.split()[0] if " " in words else method
        found.append((method, words.split()[-1]))
    return found


def test_every_address_in_the_shell_examples_exists(shared: Running) -> None:
    patterns = [path.replace("{name}", "[a-z]+") for path in create_app(shared.service).openapi()["paths"]]
    addresses = re.findall(r"http://127\.0\.0\.1:8000(/v1\S*)", TEXT)
    assert len(addresses) >= 9
    for address in addresses:
        assert any(re.fullmatch(pattern, address) for pattern in patterns), address


def test_every_metric_in_the_table_exists(shared: Running) -> None:
    text = shared.service.metrics.text().decode()
    table = "".join(line for line in TEXT.splitlines() if line.startswith("| `i2cansay_"))
    names = re.findall(r"`(i2cansay_\w+)`", table)
    assert len(names) >= 15
    assert [name for name in names if f"# TYPE {name} " not in text] == []


def test_the_limits_are_those_of_the_code() -> None:
    limits = Limits()
    words = " ".join(TEXT.split())
    assert f"{limits.body_bytes // 2**20} MB per request" in words
    assert f"{limits.images} images or {limits.rows} rows" in words
    assert (
        f"{limits.pixels // 10**6} megapixels per image and {limits.request_pixels // 10**6} per request"
        in words
    )
    assert f"{limits.json_bytes // 2**20} MB and {limits.json_values:,} values for a request in JSON" in words
    assert f"Beyond {limits.pixels_in_flight // 10**6:,} megapixels waiting" in words
    assert f"bodies, and what is read out of them {limits.bytes_in_flight // 2**20} MB" in words
    assert (
        f"labels of {limits.label_length} characters, {limits.classes} classes, {limits.models} models"
        in words
    )
    assert f"{limits.state_bytes // 2**20} MB of state" in words
    assert f"{limits.named:,} classes named" in words
    assert f"exports and backups on their way {limits.download_bytes // 2**20} MB" in words
    assert f"{LESSON_BYTES // 2**20} MB for each model whose lessons can be taken back" in words
    assert f"{COPIES} copies of samples in a class that is not complete" in words
    assert f"The service keeps {MOST_PAIRS} pairs" in words
    assert f"Of more than {MOST_CLASSES} classes" in words
    assert f"0.5^(later tests / {HALF_LIFE})" in words
    assert f"for up to {MOST} stretches" in words
    assert f"z = {Z}" in words
    assert f"{limits.waiting} requests waiting" in words
    assert f"{limits.seconds:g} seconds per request" in words
    assert f"| {limits.connections} at once" in words
    assert f"{limits.connections_per_address} from one address" in words
    assert f"complete within {limits.header_seconds:g} seconds, at most {limits.headers}" in words
    assert f"at most {limits.header_bytes // 1024} kB" in words
    assert f"silent for {limits.idle_seconds:g} seconds" in words
    assert (
        f"{limits.label_studio_tasks} tasks or annotations per request, {limits.label_studio_bytes // 2**20} MB per "
        f"image, {limits.label_studio_seconds:g} seconds per answer" in words
    )
    images = limits.label_studio_at_once * (2 * limits.label_studio_bytes + TOGETHER_BYTES)
    assert f"images of Label Studio on their way {images // 2**20} MB" in words
    assert f"After {WRONG_TOKENS_AT_ONCE} wrong tokens" in words
    assert limits.wrong_tokens_per_second == 1 / 5  # "one every five seconds"


def test_the_table_of_choices_is_that_of_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(__file__).parents[2] / "benchmarks"
    monkeypatch.syspath_prepend(str(folder))
    from choices import table

    assert table(folder / "records" / "choices.jsonl") in TEXT
