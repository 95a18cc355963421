"""The ways in: files, folders, the clipboard, a camera."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains

from tests.browser.page import Page, class_folder, defects
from tests.browser.screenshots import photograph
from tests.browser.test_teaching import counts, two_classes
from tests.service.running import Running

Opener = Callable[..., Page]


@pytest.mark.parametrize("way", ["choose", "drop"])
def test_a_folder_of_classes(service: Running, open_page: Opener, tmp_path: Path, way: str) -> None:
    folder = class_folder(tmp_path / "parts", {"scratch": 12, "dent": 9, "rust": 3})
    (folder / "rust" / "notes.txt").write_text("x")
    (folder / ".DS_Store").write_text("x")
    defects(folder, "clean", 1)  # in no subfolder
    page = open_page(service.client.url)
    if way == "choose":
        page.choose_folder(folder)
    else:
        page.drop(folder)
        page.until(lambda: page.one("#folder").is_displayed())
    assert page.one("#folder-title").text == "3 classes, 24 images"
    lines = [element.text.split("\n") for element in page.all("#folder-classes li")]
    assert [line[:2] for line in lines] == [
        ["dent", "9 images"],
        ["rust", "3 images"],
        ["scratch", "12 images"],
    ]
    notes = page.one("#folder-notes").text
    assert "1 image in no subfolder: it is shown, not taught." in notes
    assert "Left out, not images: notes.txt." in notes  # .DS_Store is nobody's business
    assert not page.one("#folder-test").is_displayed()  # there is nothing to test yet
    if way == "choose":
        photograph(page, "folder")
    page.all("#folder-classes .include")[1].click()
    assert page.one("#folder-teach").text == "Teach 21 images"
    page.one("#folder-teach").click()
    page.says("#notice", "Learnt 21 images: 12 scratch and 9 dent", 60)
    assert counts(service) == {"scratch": 12, "dent": 9}
    page.until(lambda: len(page.all(".image")) == 1)
    assert page.complaints() == []


def test_a_folder_can_be_stopped(service: Running, open_page: Opener, tmp_path: Path) -> None:
    folder = class_folder(tmp_path / "parts", {"scratch": 160, "dent": 160})
    page = open_page(service.client.url)
    page.choose_folder(folder)
    page.one("#folder-teach").click()
    page.until(lambda: page.one("#job").is_displayed() and page.attribute("#job-bar", "value") != "0")
    page.one("#job-stop").click()
    said = page.says("#notice", "Stopped:", 60)
    taught = sum(counts(service).values())
    assert 0 < taught < 320
    assert f"Learnt {taught} images" in said
    assert f"{320 - taught} images not taught" in said
    page.button("Undo").click()
    page.says("#notice", "Taken back", 60)
    page.until(lambda: page.classes() == [])


def test_a_folder_with_a_label_that_looks_known(service: Running, open_page: Opener, tmp_path: Path) -> None:
    two_classes(service, tmp_path)
    folder = class_folder(tmp_path / "parts", {"dent:Dent": 2, "scratch": 2}, seed=1)
    page = open_page(service.client.url)
    page.choose_folder(folder)
    assert "the same as “dent”, which it knows" in page.one("#folder-classes").text
    page.one("#folder-teach").click()
    page.says("#notice", "Learnt 4 images")
    assert counts(service) == {"scratch": 6, "dent": 6}


def test_what_is_no_image_is_named(service: Running, open_page: Opener, tmp_path: Path) -> None:
    two_classes(service, tmp_path)
    note, sheet = tmp_path / "note.txt", tmp_path / "sheet.pdf"
    note.write_text("x")
    sheet.write_text("x")
    page = open_page(service.client.url)
    page.choose("#choose", note, sheet)
    assert "Note.txt and sheet.pdf: no images." in page.says("#trouble", "no images")
    page.choose("#choose", note, *defects(tmp_path, "dent", 2, seed=1))
    page.says("#trouble", "Left out, not images: note.txt.")
    page.until(lambda: len(page.all(".image")) == 2)


def test_paste(service: Running, open_page: Opener, tmp_path: Path) -> None:
    page = open_page(service.client.url)
    content = base64.b64encode(defects(tmp_path, "dent", 1)[0].read_bytes()).decode()
    page.driver.execute_script(
        """
        const bytes = Uint8Array.from(atob(arguments[0]), (letter) => letter.charCodeAt(0));
        const clipboardData = new DataTransfer();
        clipboardData.items.add(new File([bytes], "image.jpg", { type: "image/jpeg" }));
        document.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
        """,
        content,
    )
    page.until(lambda: len(page.all(".image")) == 1)


def test_a_photograph_on_a_phone(service: Running, open_page: Opener, tmp_path: Path) -> None:
    page = open_page(service.client.url, size="phone")
    assert page.one(".photo").is_displayed()
    assert page.attribute("#photograph", "capture") == "environment"
    page.choose("#photograph", *defects(tmp_path, "dent", 1))
    page.until(lambda: len(page.all(".image")) == 1)


def test_the_camera(service: Running, open_page: Opener) -> None:
    page = open_page(service.client.url)
    page.button("Use the camera").click()
    page.until(lambda: page.driver.execute_script("return document.getElementById('video').videoWidth"))
    hold(page, "#hold-new", 0.6)
    page.until(lambda: page.one("#hold-problem").text == "Give it a name first.")
    page.one("#hold-label").send_keys("disc")
    hold(page, "#hold-new", 1.2)
    said = page.says("#notice", "of disc")
    taught = counts(service)["disc"]
    assert taught >= 2
    assert f"Learnt {taught} images of disc" in said
    hold(page, "#holds button", 0.6)
    page.until(lambda: counts(service)["disc"] > taught)
    page.until(lambda: page.one("#live-says").text.startswith(("disc", "Nearest is disc")))  # live prediction
    page.button("Take one image").click()
    page.until(lambda: len(page.all(".image")) == 1)
    page.button("Close the camera").click()
    assert not page.one("#camera").is_displayed()
    assert page.driver.execute_script("return document.getElementById('video').srcObject") is None
    assert page.focused() == "camera-open"
    assert page.complaints() == []


def hold(page: Page, selector: str, seconds: float) -> None:
    """Hold a button down."""
    chain = ActionChains(page.driver).click_and_hold(page.one(selector)).pause(seconds)
    chain.release().perform()
