"""The page in a real browser."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.browser.page import Page, defects
from tests.service.running import Running, Starter

IMAGES = os.environ.get("I2CANSAY_SCREENSHOTS", "")
"""A folder for images of the page, as docs/images; none are made without it."""
Opener = Callable[..., Page]


def photograph(page: Page, name: str, *, whole: bool = False) -> None:
    if IMAGES:
        page.photograph(Path(IMAGES).absolute() / f"{name}.png", whole=whole)


def test_a_day_at_the_line(service: Running, open_page: Opener, tmp_path: Path) -> None:
    page = open_page(service.client.url)
    assert "Nothing yet" in page.text
    assert "Learnt 3 images of scratch, 3 in all" in page.teach(defects(tmp_path, "scratch", 3), "scratch")
    page.until(lambda: page.classes() == ["scratch"])
    page.teach(defects(tmp_path, "dent", 3), "dent")
    page.until(lambda: page.classes() == ["dent", "scratch"])

    page.show(defects(tmp_path, "scratch", 1, seed=1) + defects(tmp_path, "dent", 1, seed=1))
    said = [element.text for element in page.all(".image .bars li:first-child .name")]
    assert said == ["scratch", "dent"]
    page.button("Clear all").click()

    for round_ in range(2, 5):  # more of both, so that the chart has something to show
        for kind in ("scratch", "dent"):
            page.show(defects(tmp_path, kind, 4, seed=round_))
            page.button(kind).click()  # the button of a known class fills the label
            page.one("#teach-button").click()
            page.until(lambda: not page.all(".image"))
    page.until(lambda: page.one("#recent").text.endswith("%"))

    page.teach(defects(tmp_path, "rust", 2), "rust")
    page.until(lambda: page.classes() == ["dent", "rust", "scratch"])
    page.show(
        defects(tmp_path, "rust", 1, seed=1)
        + defects(tmp_path, "scratch", 1, seed=8)
        + defects(tmp_path, "dent", 1, seed=8)
        + defects(tmp_path, "clean", 1)
    )
    for number in (1, 2, 3):
        page.button(f"Teach image {number}").click()  # leave them out
    page.one("#label").send_keys("clean")
    assert page.one("#teach-button").text == "Teach 1 image as “clean”"

    page.button("Forget rust").click()
    assert page.one("#ask").is_displayed()
    assert "cannot be undone" in page.one("#ask").text
    page.button("Cancel").click()
    assert page.classes() == ["dent", "rust", "scratch"]
    page.button("Forget rust").click()
    page.button("Forget it").click()
    page.until(lambda: page.classes() == ["dent", "scratch"])

    page.driver.refresh()
    page.ready()
    assert page.classes() == ["dent", "scratch"]
    assert {line.label: line.count for line in service.client.model("line-3").classes()} == {
        "dent": 15,
        "scratch": 15,
    }
    assert page.complaints() == []


def test_a_new_model_is_one_of_three_choices(service: Running, open_page: Opener) -> None:
    page = open_page(service.client.url)
    page.button("New…").click()
    choices = [element.text for element in page.all("#ask .choice")]
    assert [choice.split()[0] for choice in choices] == ["best", "small", "paper"]
    assert [("usual" in choice) for choice in choices] == [False, True, False]
    photograph(page, "new-model")
    page.all("#ask .choice")[2].click()
    page.one("#ask-input").send_keys("letter", Keys.ENTER)
    page.until(lambda: "Made letter" in page.one("#notice").text)
    made = {model["name"]: model["learner"] for model in service.client.models()}
    assert made == {"line-3": "i2cansay_shared", "letter": "i2cansay"}
    assert page.complaints() == []


def test_verdicts_are_said_in_words(service: Running, open_page: Opener, tmp_path: Path) -> None:
    page = open_page(service.client.url)
    for kind in ("scratch", "dent"):
        service.client.model("line-3").learn(kind, images=defects(tmp_path, kind, 2))
    page.driver.refresh()
    page.ready()
    page.show(defects(tmp_path, "scratch", 1, seed=1))
    assert "and it takes 19" in page.one(".image.unsure .meaning").text
    for seed in range(2, 22):  # what is new takes more tests than what is sure
        for kind in ("scratch", "dent"):
            service.client.model("line-3").learn(kind, images=defects(tmp_path, kind, 5, seed=seed))
    page.driver.refresh()
    page.ready()
    known = [path for kind in ("scratch", "dent", "scratch") for path in defects(tmp_path, kind, 1, seed=30)]
    page.show(known + defects(tmp_path, "rust", 1))
    assert "at most 5 in 100 such answers are wrong" in page.one(".image.sure .meaning").text
    assert "stranger than 95 in 100" in page.one(".image.new .meaning").text
    photograph(page, "teach-desktop", whole=True)
    assert page.complaints() == []


def test_phone_width_in_the_dark(service: Running, open_page: Opener, tmp_path: Path) -> None:
    page = open_page(service.client.url, size="phone", dark=True)
    for number, kind in enumerate(("scratch", "dent", "scratch", "dent"), start=1):
        page.teach(defects(tmp_path, kind, 4, seed=number), kind)
        page.until(lambda number=number: f"{4 * number} images" in page.one("#total").text)  # type: ignore[misc]
    page.show(defects(tmp_path, "scratch", 1, seed=3) + defects(tmp_path, "dent", 1, seed=3))
    too_wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.driver.execute_script(too_wide) == 0
    small = "return [...document.querySelectorAll('button, .button, select, #label')]" + (
        ".filter(e => e.offsetParent && e.getBoundingClientRect().height < 44).map(e => e.outerHTML)"
    )
    assert page.driver.execute_script(small) == []  # large enough for a finger
    photograph(page, "teach-phone", whole=True)
    assert page.complaints() == []


def test_undo_and_rename(service: Running, open_page: Opener, tmp_path: Path) -> None:
    page = open_page(service.client.url)
    page.teach(defects(tmp_path, "scratch", 3), "scratch")
    page.until(lambda: page.classes() == ["scratch"])
    assert "one more image saves it" in page.teach(defects(tmp_path, "dent", 1), "scrach")
    page.until(lambda: page.classes() == ["scrach", "scratch"])
    assert "in memory only" in page.text
    page.button("Undo").click()
    page.until(lambda: page.classes() == ["scratch"])
    page.button("Rename scratch").click()
    page.one("#ask-input").send_keys("Kratzer <b>1</b> / ü", Keys.ENTER)  # the old name is selected
    page.until(lambda: page.classes() == ["Kratzer <b>1</b> / ü"])
    assert page.complaints() == []


def test_by_keyboard_alone(service: Running, open_page: Opener, tmp_path: Path) -> None:
    page = open_page(service.client.url)
    page.show(defects(tmp_path, "scratch", 2))
    reached = []
    for _ in range(25):
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        active = page.driver.switch_to.active_element
        reached.append(active.get_attribute("id") or active.accessible_name)
        if reached[-1] == "label":
            ActionChains(page.driver).send_keys("scratch", Keys.ENTER).perform()
            break
    assert {"model", "choose", "photograph", "clear"} <= set(reached)
    page.until(lambda: page.classes() == ["scratch"])


def test_everything_has_a_name_for_screen_readers(
    service: Running, open_page: Opener, tmp_path: Path
) -> None:
    page = open_page(service.client.url)
    page.teach(defects(tmp_path, "scratch", 2), "scratch")
    page.until(lambda: page.classes() == ["scratch"])
    page.show(defects(tmp_path, "scratch", 1, seed=2))
    for element in page.all("button, select, input, img, svg[role=img], section"):
        if element.is_displayed() and not (element.tag_name == "img" and element.get_attribute("alt") == ""):
            assert element.accessible_name, element.get_attribute("outerHTML")


def test_errors_in_words(service: Running, open_page: Opener, tmp_path: Path) -> None:
    page = open_page(service.client.url)
    page.teach(defects(tmp_path, "scratch", 2), "scratch")
    page.until(lambda: page.classes() == ["scratch"])
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"this is no image")
    page.show([broken, *defects(tmp_path, "scratch", 1, seed=1)])
    assert "damaged or not an image" in page.one(".image.bad").text
    assert len(page.all(".image.bad")) == 1  # the other one got its answer
    page.button("Clear all").click()
    document = tmp_path / "note.txt"
    document.write_text("x")
    page.one("#choose").send_keys(str(document))
    page.until(lambda: "not images" in page.one("#trouble").text)
    page.button("New…").click()
    page.one("#ask-input").send_keys("Not A Name")
    page.button("Make it").click()
    page.until(lambda: "a-z" in page.one("#trouble").text)
    page.show(defects(tmp_path, "scratch", 1, seed=2))
    service.stop()
    page.one("#label").send_keys("scratch")
    page.one("#teach-button").click()
    page.until(lambda: "cannot be reached" in page.one("#trouble").text)
    assert len(page.all(".image")) == 1  # nothing was lost: it can be sent again


def test_a_token_is_asked_for(tmp_path: Path, open_page: Opener) -> None:
    starter = Starter(tmp_path / "data", encoder="pixels")
    running = starter(need_token=True)
    secret = running.service.tokens.add("me", "admin")
    running.service.create("line-3")
    options = {"url": running.client.url}
    page = open_page_without_waiting(open_page, **options)
    page.until(lambda: page.one("#ask").is_displayed())
    page.one("#ask-input").send_keys(secret, Keys.ENTER)
    page.ready()
    page.teach(defects(tmp_path, "scratch", 2), "scratch")
    page.until(lambda: page.classes() == ["scratch"])
    starter.stop_all()


def open_page_without_waiting(open_page: Opener, url: str) -> Page:
    page = open_page("about:blank", wait=False)
    page.url = url
    page.driver.get(url)
    return page


def test_nothing_comes_from_outside(service: Running, open_page: Opener) -> None:
    page = open_page(service.client.url)
    loaded = page.driver.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
    assert loaded
    assert all(name.startswith(service.client.url) for name in loaded)


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_the_empty_page(service: Running, open_page: Opener, size: str) -> None:
    page = open_page(service.client.url, size=size)
    assert page.all("#classes li") == []
    assert not page.one("#tray").is_displayed()
    photograph(page, f"empty-{size}")
