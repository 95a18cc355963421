"""Changing one's mind: lessons taken back and moved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from i2cansay.service.access.tokens import Scope
from i2cansay.service.client import Client
from tests.browser.looks import Look, everywhere, large_and_small
from tests.browser.page import Page, class_folder, defects
from tests.browser.screenshots import photograph
from tests.browser.test_teaching import counts, two_classes
from tests.service.running import Running, Starter

Opener = Callable[..., Page]
TOKENS: dict[str, Scope] = {"anna": "teach", "bert": "teach", "chief": "admin"}


@large_and_small
def test_lessons_are_taken_back_and_moved(
    service: Running, open_page: Opener, tmp_path: Path, look: Look
) -> None:
    two_classes(service, tmp_path)
    for seed, (kind, label) in enumerate([("dent", "scratch"), ("rust", "dent")], start=1):
        service.client.model("line-3").learn(label, images=defects(tmp_path, kind, 3, seed=seed))
    page = open_page(service.client.url, **look._asdict())
    page.button("Lessons").click()
    page.until(lambda: len(page.all("#lessons li")) == 4)
    newest = page.all("#lessons li")[0].text
    assert "3 images of dent" in newest
    assert "can be changed until" in newest
    assert "not stored" in page.one("#older").text  # why older ones cannot
    page.button("Move to… another class: 3 images of dent").click()
    page.one("#ask-input").send_keys("rust", Keys.ENTER)
    page.says("#notice", "Moved to rust")
    assert counts(service) == {"scratch": 7, "dent": 4, "rust": 3}
    page.until(lambda: "3 images of rust" in page.one("#lessons").text)
    page.button("Take back 3 images of scratch").click()
    page.says("#notice", "Taken back")
    page.until(lambda: len(page.all("#lessons li")) == 3)
    assert counts(service) == {"scratch": 4, "dent": 4, "rust": 3}
    assert page.complaints() == []


@everywhere
def test_one_class_of_a_folder_is_moved_or_taken_back(
    service: Running, open_page: Opener, tmp_path: Path, look: Look
) -> None:
    two_classes(service, tmp_path)
    folder = class_folder(
        tmp_path / "parts", {"scratch": 14, "dent": 12, "rust:stain": 10}, seed=1
    )  # three parts
    page = open_page(service.client.url, **look._asdict())
    page.choose_folder(folder)
    page.one("#folder-teach").click()
    page.says("#notice", "Learnt 36 images", 60)
    page.button("Lessons").click()
    page.until(lambda: len(page.all("#lessons > li")) == 3)  # the parts of the folder are one lesson
    line = page.all("#lessons > li")[0]
    assert "36 images of 3 classes" in line.text
    assert [element.text for element in page.all("#lessons .parts b")] == ["scratch", "dent", "stain"]
    if str(look) == "desktop-light":
        photograph(page, "lessons")
    page.button("Move to… another class: 10 images of stain").click()
    page.one("#ask-input").send_keys("rust", Keys.ENTER)
    page.says("#notice", "Moved to rust")
    assert counts(service) == {"scratch": 18, "dent": 16, "rust": 10}
    page.until(lambda: "rust" in page.one("#lessons .parts").text)
    page.button("Take back 12 images of dent").click()
    page.says("#notice", "Taken back")
    page.until(lambda: len(page.all("#lessons .parts li")) == 2)
    assert counts(service) == {"scratch": 18, "dent": 4, "rust": 10}
    page.button("Take back all 24 images of 2 classes").click()
    page.until(lambda: len(page.all("#lessons > li")) == 2)
    assert counts(service) == {"scratch": 4, "dent": 4}
    assert page.all(".image") == []  # the images lie in their folder
    assert page.complaints() == []


def test_a_teacher_sees_which_lessons_are_their_own(open_page: Opener, tmp_path: Path) -> None:
    starter = Starter(tmp_path / "data", encoder="pixels")
    running = starter(need_token=True)
    secrets = {name: running.service.tokens.add(name, scope) for name, scope in TOKENS.items()}
    running.service.create("line-3")
    for name in ("anna", "bert"):
        client = Client(running.client.url, token=secrets[name])
        client.model("line-3").learn(name, images=defects(tmp_path, "dent", 2, seed=len(name)))
        client.close()
    page = open_page("about:blank", wait=False)
    page.url = running.client.url
    page.driver.get(page.url)
    page.until(lambda: page.one("#ask").is_displayed())
    page.one("#ask-input").send_keys(secrets["anna"], Keys.ENTER)
    page.ready()
    page.button("Lessons").click()
    page.until(lambda: len(page.all("#lessons li")) == 2)
    said = {element.text.split("\n")[0]: element.text for element in page.all("#lessons li")}
    assert "by you" in said["2 images of anna"]
    assert "by somebody else" in said["2 images of bert"]
    page.button("Take back 2 images of bert").click()  # asked about, since it is another's
    assert "taught by somebody else?" in page.one("#ask").text
    page.button("Cancel").click()
    page.driver.execute_script("sessionStorage.clear()")
    page.driver.refresh()
    page.until(lambda: page.one("#ask").is_displayed())
    page.one("#ask-input").send_keys(secrets["chief"], Keys.ENTER)
    page.ready()
    page.button("Lessons").click()
    page.until(lambda: "by bert" in page.one("#lessons").text)  # names are for an admin
    starter.stop_all()


def test_what_is_too_old_stays_and_the_rest_is_taken_back(
    service: Running, open_page: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("i2cansay.service.model.transaction.LESSON_ROWS", 40)
    page = open_page(service.client.url)
    page.choose_folder(class_folder(tmp_path / "parts", {"scratch": 32, "dent": 32}))  # four parts
    page.one("#folder-teach").click()
    page.says("#notice", "Learnt 64 images")
    page.button("Undo").click()
    page.says("#notice", "Taken back: 32 images. 32 images are too old and stay.")
    assert counts(service) == {"scratch": 16, "dent": 16}
    page.until(lambda: page.one("#total").text == "32 images")
    assert not page.one("#trouble").is_displayed()


def test_taking_back_shows_how_far_it_is_and_happens_once(
    service: Running, open_page: Opener, tmp_path: Path
) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url)
    page.choose_folder(class_folder(tmp_path / "parts", {"scratch": 32, "dent": 32}, seed=1))
    page.one("#folder-teach").click()
    page.says("#notice", "Learnt 64 images")
    page.button("Lessons").click()
    page.until(lambda: len(page.all("#lessons > li")) == 3)
    slow = {"offline": False, "latency": 500, "downloadThroughput": -1, "uploadThroughput": -1}
    page.driver.execute_cdp_cmd("Network.enable", {})
    page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", slow)
    press = (
        "[...document.querySelectorAll('#lessons button')].find(b => b.ariaLabel === arguments[0]).click()"
    )
    page.driver.execute_script(press, "Take back all 64 images of 2 classes")
    page.one("#ask-yes").click()  # so many are asked about
    page.until(lambda: "Taking back" in page.one("#job").text)
    page.driver.execute_script(press, "Take back 4 images of dent")
    page.says("#notice", "Something else is under way")
    page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {**slow, "latency": 0})
    page.says("#notice", "Taken back.")
    assert counts(service) == {"scratch": 4, "dent": 4}
    assert not page.one("#job").is_displayed()


def test_an_empty_list_says_so(service: Running, open_page: Opener) -> None:
    page = open_page(service.client.url)
    page.button("Lessons").click()
    page.until(lambda: "None at the moment" in page.one("#lessons-words").text)
