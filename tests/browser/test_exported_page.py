"""The page that `i2cansay export --browser` writes, in a real Chromium, over loopback HTTP.

Needs onnxruntime-web as `npm pack onnxruntime-web@1.30` fetches it, named in I2CANSAY_ORT_WEB; `make test-browser`
fetches it.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_sample_images

from i2cansay.encoders.preprocessing import INTERPOLATIONS, Preprocessing
from i2cansay.image_learner import ImageLearner
from tests.browser.page import Page

RUNTIME = os.environ.get("I2CANSAY_ORT_WEB", "")
FAKE_CAMERA = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
SQUARE = """
const [image, looking, done] = arguments;
import(new URL("./resample.js", document.baseURI)).then(({ square }) => done(Array.from(square(image, looking))));
"""

needs_runtime = pytest.mark.skipif(
    not RUNTIME, reason="I2CANSAY_ORT_WEB does not name a package of onnxruntime-web"
)


class Quiet(SimpleHTTPRequestHandler):
    """Hands out files without a line for each."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and the address at which it is handed out."""
    folder = tmp_path / "page"
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def model() -> ImageLearner:
    """Two photographs, learnt from pieces of them."""
    rng = np.random.default_rng(0)
    taught = ImageLearner("efficientnet-lite0+stages", "best")
    photographs = dict(zip(("palace", "<b>flower</b>"), load_sample_images().images, strict=True))
    for _ in range(10):
        pieces = [
            (piece(photograph, rng), label) for label, photograph in photographs.items() for _ in range(4)
        ]
        taught.learn([image for image, _ in pieces], [label for _, label in pieces])
    return taught


def piece(photograph: Any, rng: np.random.Generator) -> Any:
    top, left = rng.integers(0, 200), rng.integers(0, 400)
    return photograph[top : top + 220, left : left + 220]


def answered(page: Page, file: Path) -> tuple[str, str, list[float]]:
    """Choose a file; return label, verdict and the probabilities that are shown, the largest first."""
    before = page.one("#answer").get_attribute("data-answers")
    page.one("#file").send_keys(str(file))
    page.until(lambda: page.one("#answer").get_attribute("data-answers") != before)
    shown = [float(each.text.rstrip("%")) / 100 for each in page.all("#guesses b")]
    return page.one("#label").text, page.one("#verdict").text, shown


@needs_runtime
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_it_answers_as_python_does(
    served: tuple[Path, str], model: ImageLearner, open_page: Callable[..., Page], tmp_path: Path, size: str
) -> None:
    folder, url = served
    assert model.to_page(folder, title="Two photographs", runtime=RUNTIME)
    page = open_page(url, size=size, dark=size == "phone")
    assert "Two photographs" in page.text
    palace, flower = load_sample_images().images
    files = {"palace.png": palace[50:420, 50:500], "flower.png": flower[100:160, 150:230]}
    for name, pixels in files.items():
        Image.fromarray(pixels).save(tmp_path / name)
        label, verdict, shown = answered(page, tmp_path / name)
        (expected,) = model.answer([tmp_path / name], k=2)
        assert (label, verdict) == (expected.label, expected.verdict)
        assert shown == pytest.approx([guess.probability for guess in expected.guesses], abs=0.002)
    page.driver.save_screenshot(str(tmp_path / f"{size}.png"))
    assert not [line for line in page.driver.get_log("browser") if line["level"] == "SEVERE"]


@needs_runtime
def test_it_follows_the_camera(
    served: tuple[Path, str], model: ImageLearner, open_page: Callable[..., Page]
) -> None:
    folder, url = served
    model.to_page(folder, runtime=RUNTIME)
    page = open_page(url, flags=FAKE_CAMERA)
    page.button("Use the camera").click()
    page.until(lambda: int(page.one("#answer").get_attribute("data-answers") or 0) >= 3)
    page.button("Stop the camera").click()
    assert page.button("Use the camera").is_displayed()


def test_without_the_runtime_it_says_how_to_get_it(
    served: tuple[Path, str], model: ImageLearner, open_page: Callable[..., Page]
) -> None:
    folder, url = served
    assert not model.to_page(folder)
    page = open_page(url, wait=False)
    page.driver.get(url)
    page.until(lambda: "npm pack onnxruntime-web@1.30" in page.text)
    assert not page.one("#camera").is_enabled()


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_it_resizes_as_pillow_does(
    served: tuple[Path, str], model: ImageLearner, open_page: Callable[..., Page], interpolation: str
) -> None:
    folder, url = served
    model.to_page(folder)
    page = open_page(url, wait=False)
    page.driver.get(url)
    rng = np.random.default_rng(0)
    for width, height in ((50, 37), (9, 12), (20, 20)):
        looking = Preprocessing(size=16, resize=20, interpolation=interpolation)
        pixels = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
        rgba = np.concatenate([pixels, np.full((height, width, 1), 255, np.uint8)], axis=2)
        image = {"width": width, "height": height, "data": rgba.ravel().tolist()}
        settings = {"size": 16, "resize": 20, "interpolation": interpolation}
        found = np.array(page.driver.execute_async_script(SQUARE, image, settings)).reshape(16, 16, 3)
        expected = looking.square(Image.fromarray(pixels)).astype(int)
        assert np.abs(found - expected).max() <= 1
        assert (found == expected).mean() > 0.95
