"""Changing one's mind: lessons taken back and moved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from selenium.webdriver.common.keys import Keys

from tests.browser.page import Page, defects
from tests.browser.screenshots import photograph
from tests.browser.test_teaching import counts, two_classes
from tests.service.running import Running

Opener = Callable[..., Page]


def test_lessons_are_taken_back_and_moved(service: Running, open_page: Opener, tmp_path: Path) -> None:
    two_classes(service, tmp_path)
    for seed, (kind, label) in enumerate([("dent", "scratch"), ("rust", "dent")], start=1):
        service.client.model("line-3").learn(label, images=defects(tmp_path, kind, 3, seed=seed))
    page = open_page(service.client.url)
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
    photograph(page, "lessons")
    page.button("Take back 3 images of scratch").click()
    page.says("#notice", "Taken back")
    page.until(lambda: len(page.all("#lessons li")) == 3)
    assert counts(service) == {"scratch": 4, "dent": 4, "rust": 3}
    assert page.complaints() == []


def test_an_empty_list_says_so(service: Running, open_page: Opener) -> None:
    page = open_page(service.client.url)
    page.button("Lessons").click()
    page.until(lambda: "None at the moment" in page.one("#lessons-words").text)
