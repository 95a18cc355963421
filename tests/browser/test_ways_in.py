"""The ways in: files, folders, the clipboard, a camera."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains

from tests.browser.looks import Look, everywhere, large_and_small
from tests.browser.page import Page, class_folder, defects
from tests.browser.screenshots import photograph
from tests.browser.test_teaching import counts, two_classes
from tests.service.running import Running

Opener = Callable[..., Page]


@everywhere
@pytest.mark.parametrize("way", ["choose", "drop"])
def test_a_folder_of_classes(
    service: Running, open_page: Opener, tmp_path: Path, way: str, look: Look
) -> None:
    if (way, look.size) == ("drop", "phone"):
        pytest.skip("a finger drops no folder")
    folder = class_folder(tmp_path / "parts", {"scratch": 12, "dent": 9, "rust": 3})
    (folder / "rust" / "notes.txt").write_text("x")
    (folder / ".DS_Store").write_text("x")
    defects(folder, "clean", 1)  # in no subfolder
    page = open_page(service.client.url, **look._asdict())
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
    if way == "choose" and str(look) == "desktop-light":
        photograph(page, "folder")
    page.all("#folder-classes .include")[1].click()
    assert page.one("#folder-teach").text == "Teach 21 images"
    page.one("#folder-teach").click()
    page.says("#notice", "Learnt 21 images: scratch (12) and dent (9)", 60)
    assert counts(service) == {"scratch": 12, "dent": 9}
    page.until(lambda: len(page.all(".image")) == 1)
    assert page.complaints() == []


def test_a_folder_that_comes_during_a_preview_is_left_out(
    service: Running, open_page: Opener, tmp_path: Path
) -> None:
    first = class_folder(tmp_path / "first", {"scratch": 3, "dent": 2})
    second = class_folder(tmp_path / "second", {"rust": 4})
    page = open_page(service.client.url)
    page.drop(first)
    page.until(lambda: page.one("#folder").is_displayed())
    page.drop(second)
    page.says("#notice", "Answer the open question first")
    assert page.one("#folder-title").text == "2 classes, 5 images"
    page.one("#folder-teach").click()
    page.says("#notice", "Learnt 5 images")
    assert counts(service) == {"scratch": 3, "dent": 2}
    page.drop(second)
    page.until(lambda: page.one("#folder-title").text == "1 class, 4 images")


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


def test_new_names_that_look_alike_are_asked_about(
    service: Running, open_page: Opener, tmp_path: Path
) -> None:
    folder = class_folder(
        tmp_path / "parts", {"dent": 3, "dent:Dent": 2, "rust:house": 2, "clean:mouse": 2, "scratch": 2}
    )
    page = open_page(service.client.url)
    page.choose_folder(folder)
    lines = {element.text.split("\n")[0]: element for element in page.all("#folder-classes > li")}
    assert "the same as “dent”, which is in this folder too" in lines["Dent"].text
    assert "the same as" not in lines["dent"].text  # the larger one gives the name
    assert page.one("#folder-title").text == "4 classes, 11 images"
    asked = {
        name: page_line.find_elements("css selector", ".same input") for name, page_line in lines.items()
    }
    assert [len(asked[name]) for name in ("Dent", "house", "mouse", "scratch")] == [1, 0, 1, 0]
    assert asked["Dent"][0].is_selected()  # spelt otherwise, said the same
    assert not asked["mouse"][0].is_selected()  # a letter apart: only a person knows
    asked["Dent"][0].click()
    assert page.one("#folder-title").text == "5 classes, 11 images"
    asked["Dent"][0].click()
    page.one("#folder-teach").click()
    page.says("#notice", "Learnt 11 images", 60)
    assert counts(service) == {"dent": 5, "house": 2, "mouse": 2, "scratch": 2}


def test_a_look_that_was_stopped_can_go_on(service: Running, open_page: Opener, tmp_path: Path) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url)
    slow = {"offline": False, "latency": 400, "downloadThroughput": -1, "uploadThroughput": -1}
    page.driver.execute_cdp_cmd("Network.enable", {})
    page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", slow)
    page.choose("#choose", *defects(tmp_path, "scratch", 80, seed=1))
    page.until(lambda: page.one("#job").is_displayed() and page.attribute("#job-bar", "value") != "0", 60)
    page.one("#job-stop").click()
    page.until(lambda: page.one("#stale").is_displayed(), 60)
    left = len(page.all(".image.unasked"))
    assert 0 < left < 80
    assert f"It has not looked at {left} images yet." in page.one("#stale").text
    page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {**slow, "latency": 0})
    page.button("Look at them").click()
    page.until(lambda: not page.all(".image.unasked, .image.waiting"), 60)
    page.until(lambda: not page.one("#stale").is_displayed())


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


@large_and_small
def test_the_camera(service: Running, open_page: Opener, look: Look) -> None:
    page = open_page(service.client.url, **look._asdict())
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


@large_and_small
def test_the_camera_rests_in_other_views(service: Running, open_page: Opener, look: Look) -> None:
    page = open_page(service.client.url, **look._asdict())
    seen = "return document.getElementById('video').srcObject?.getTracks().map(track => track.readyState)"
    page.button("Use the camera").click()
    page.until(lambda: page.driver.execute_script(seen) == ["live"])
    page.driver.execute_script("window.track = document.getElementById('video').srcObject.getTracks()[0]")
    for view in ("Check", "Lessons"):
        page.button(view).click()
        page.until(lambda: page.driver.execute_script("return window.track.readyState") == "ended")
        assert page.driver.execute_script(seen) is None
    page.button("Teach").click()
    page.until(lambda: page.driver.execute_script(seen) == ["live"])  # it goes on where it was
    page.one("#hold-label").send_keys("disc")
    hold(page, "#hold-new", 0.6)
    page.says("#notice", "of disc")
    page.button("Close the camera").click()
    page.button("Check").click()
    page.button("Teach").click()
    assert not page.one("#camera").is_displayed()  # closed is closed
    assert page.complaints() == []


def hold(page: Page, selector: str, seconds: float) -> None:
    """Hold a button down."""
    chain = ActionChains(page.driver).click_and_hold(page.one(selector)).pause(seconds)
    chain.release().perform()
