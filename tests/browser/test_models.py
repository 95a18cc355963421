"""Models on the page: made, taken in and out, and the predictions as a table."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image
from selenium.webdriver.common.keys import Keys

from tests.browser.looks import Look, large_and_small
from tests.browser.page import Page, defects
from tests.browser.screenshots import photograph
from tests.browser.test_teaching import two_classes
from tests.service.running import Running

Opener = Callable[..., Page]


def test_a_new_model_is_one_of_three_choices(seeing: Running, open_page: Opener) -> None:
    page = open_page(seeing.client.url)
    page.menu("New model…")
    page.until(lambda: page.one("#ask").is_displayed())
    choices = [element.text for element in page.all("#ask .choice")]
    assert [choice.split()[0] for choice in choices] == ["best", "small", "paper"]
    assert [("usual" in choice) for choice in choices] == [False, True, False]
    photograph(page, "new-model")
    page.all("#ask .choice")[2].click()
    page.one("#ask-input").send_keys("letter", Keys.ENTER)
    page.says("#notice", "Made letter", 60)
    made = {model["name"]: model["learner"] for model in seeing.client.models()}
    assert made == {"line-3": "i2cansay_shared", "letter": "i2cansay"}
    assert page.complaints() == []


def test_out_and_in(service: Running, open_page: Opener, tmp_path: Path) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url)
    page.downloads_to(tmp_path / "saved")
    page.menu("Save the model (.i2cs)")
    saved = tmp_path / "saved" / "line-3.i2cs"
    page.until(saved.exists)
    page.choose("#import-file", saved)
    page.until(lambda: page.one("#ask").is_displayed())
    assert page.attribute("#ask-input", "value") == "line-3"
    page.one("#ask-input").send_keys("copy", Keys.ENTER)
    page.says("#notice", "Imported copy")
    page.until(lambda: page.classes() == ["dent", "scratch"])
    assert page.attribute("#model", "value") == "copy"


@large_and_small
def test_what_it_decides_as_onnx(service: Running, open_page: Opener, tmp_path: Path, look: Look) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url, **look._asdict())
    page.downloads_to(tmp_path / "saved")
    page.menu("Save what it decides now (ONNX)")
    saved = tmp_path / "saved" / "line-3.onnx"
    page.until(saved.exists, 60)
    session = onnxruntime.InferenceSession(saved.read_bytes())
    drawn = defects(tmp_path, "dent", 3, seed=1) + defects(tmp_path, "scratch", 3, seed=1)
    asked = [
        path.with_suffix(".png") for path in drawn
    ]  # the service reads large JPEG files at a smaller scale
    for before, path in zip(drawn, asked, strict=True):
        Image.open(before).save(path)
    encoder = service.service.image_queue(service.service.model("line-3")).encoder
    squares = np.stack([encoder.prepare(Image.open(path)) for path in asked])
    (labels,) = session.run(["label"], {"pixels": squares})
    predicted = service.client.model("line-3").predict(images=asked)
    assert labels.tolist() == [each.label for each in predicted]  # the file decides as the page does
    assert page.complaints() == []


def test_a_model_without_onnx_says_why(service: Running, open_page: Opener, tmp_path: Path) -> None:
    page = open_page(service.client.url)
    page.downloads_to(tmp_path / "saved")
    page.menu("Save what it decides now (ONNX)")  # nothing has been taught
    page.says("#trouble", "cannot be exported as ONNX")
    assert not (tmp_path / "saved" / "line-3.onnx").exists()


def test_the_predictions_as_a_table(service: Running, open_page: Opener, tmp_path: Path) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url)
    page.one("#menu summary").click()
    assert not page.one("#csv").is_enabled()
    page.press(Keys.ESCAPE)
    assert not page.one("#csv").is_displayed()
    page.show(defects(tmp_path, "dent", 2, seed=1))
    page.downloads_to(tmp_path / "saved")
    page.menu("Save the predictions (CSV)")
    saved = tmp_path / "saved" / "line-3-predictions.csv"
    page.until(saved.exists)
    with saved.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["file"] for line in lines] == ["dent-1-0.jpg", "dent-1-1.jpg"]
    assert {line["label"] for line in lines} <= {"dent", "scratch"}
    assert all(0 <= float(line["probability"]) <= 1 for line in lines)
