"""For everyone: axe-core, the keyboard alone, small screens, fingers, and no network."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser.looks import LOOKS, Look, everywhere, large_and_small
from tests.browser.page import Page, class_folder, defects
from tests.browser.screenshots import photograph
from tests.browser.test_teaching import counts, much, two_classes
from tests.service.running import Running

Opener = Callable[..., Page]
AXE = os.environ.get("I2CANSAY_AXE", "")
"""A newer axe.min.js than the one of the package, where there is one."""


def violations(page: Page) -> list[str]:
    """Return what axe-core finds, with the element."""
    script = Path(AXE).read_text() if AXE else files("axe_core_python").joinpath("axe.min.js").read_text()
    page.driver.execute_script(script)
    found: list[dict[str, Any]] = page.driver.execute_async_script(
        "const [end] = arguments; axe.run().then(({ violations }) => end(violations))"
    )
    return [f"{each['id']}: {node['html'][:150]}" for each in found for node in each["nodes"]]


def at_rest(page: Page, look: Look) -> Page:
    """Ask for less motion: a colour is judged when it has come to rest."""
    scheme = {"name": "prefers-color-scheme", "value": "dark" if look.dark else "light"}
    features = [scheme, {"name": "prefers-reduced-motion", "value": "reduce"}]
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    return page


@everywhere
def test_axe_finds_nothing_in_the_views(
    service: Running, open_page: Opener, tmp_path: Path, look: Look
) -> None:
    page = at_rest(open_page(service.client.url, **look._asdict()), look)
    assert violations(page) == []  # empty
    for view in ("Check", "Lessons"):
        page.button(view).click()
        assert violations(page) == []
    much(service, tmp_path)
    page.driver.refresh()
    page.ready()
    assert violations(page) == []  # what to do next
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"this is no image")
    page.show([*defects(tmp_path, "scratch", 2, seed=30), *defects(tmp_path, "rust", 1), broken])
    page.one("#label").send_keys(Keys.ENTER)  # a blank label
    assert violations(page) == []  # cards
    page.one("#size").click()
    page.button("None").click()
    assert violations(page) == []  # tiles, a disabled button
    page.one("#menu summary").click()
    assert violations(page) == []
    page.press(Keys.ESCAPE)
    page.button("All 3").click()
    page.one("#label").send_keys("worn", Keys.ENTER)
    page.says("#notice", "Learnt 3 images of worn")
    page.choose("#choose", broken.rename(tmp_path / "broken.txt"))
    page.says("#trouble", "no images")
    assert violations(page) == []  # a notice, an error
    page.button("Close this message").click()
    page.button("Close this notice").click()
    page.button("Clear all").click()
    page.button("Use the camera").click()
    page.until(lambda: page.one("#live-says").text)
    page.button("Forget dent").click()
    assert violations(page) == []  # the camera, and a class on its way out
    page.button("Keep it: dent").click()
    page.button("Close the camera").click()
    page.button("Check").click()
    page.choose("#test-folder", class_folder(tmp_path / "unseen", {"scratch": 2, "dent": 2}, seed=41))
    page.until(lambda: page.one("#folder").is_displayed())
    page.one("#folder-test").click()
    page.until(lambda: page.all("#test-result table"), 60)
    assert violations(page) == []
    page.button("Lessons").click()
    page.until(lambda: page.all("#lessons .parts"))
    assert violations(page) == []


@everywhere
def test_axe_finds_nothing_in_the_dialogs(
    service: Running, open_page: Opener, tmp_path: Path, look: Look
) -> None:
    two_classes(service, tmp_path)
    page = at_rest(open_page(service.client.url, **look._asdict()), look)

    def judged() -> None:
        page.until(lambda: page.one("dialog[open]").is_displayed())
        assert violations(page) == []
        page.button("Cancel").click()
        page.until(lambda: not page.all("dialog[open]"))

    page.button("Rename dent").click()
    page.one("#ask-input").clear()
    page.one("#ask-input").send_keys(Keys.ENTER)  # a blank name
    judged()
    page.button("Add a class…").click()
    judged()
    page.menu("New model…")
    judged()
    page.show(defects(tmp_path, "dent", 26, seed=1))
    page.one("#label").send_keys("Dent", Keys.ENTER)  # beside "dent"
    judged()
    page.one("#label").clear()
    page.one("#label").send_keys("worn", Keys.ENTER)  # so many at once
    judged()
    page.button("Clear all").click()
    folder = class_folder(tmp_path / "parts", {"scratch": 2, "dent:Dent": 2, "rust": 1, "rust:Rust": 1})
    defects(folder, "clean", 1)
    page.choose_folder(folder)
    judged()
    page.button("Check").click()
    page.choose("#test-folder", folder)
    judged()
    page.button("Lessons").click()
    page.until(lambda: page.all("#lessons li"))
    page.button("Move to… another class: 4 images of dent").click()
    judged()
    page.one("#import-file").send_keys(str(defects(tmp_path, "dent", 1)[0]))
    judged()


TOO_WIDE = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
TOO_SMALL = "return [...document.querySelectorAll('button, .button, select, summary, #label')]" + (
    ".filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 44).map(e => e.outerHTML)"
)


def fits(page: Page) -> None:
    """Nothing is wider than the window, and everything is large enough for a finger."""
    assert page.driver.execute_script(TOO_WIDE) == 0
    assert page.driver.execute_script(TOO_SMALL) == []


@everywhere
def test_nothing_is_too_wide_or_too_small(
    service: Running, open_page: Opener, tmp_path: Path, look: Look
) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url, **look._asdict())
    page.show(defects(tmp_path, "scratch", 1, seed=3) + defects(tmp_path, "dent", 1, seed=3))
    for view in ("Teach", "Check", "Lessons"):
        page.button(view).click()
        fits(page)
    page.button("Teach").click()
    if str(look) == "phone-dark":
        photograph(page, "teach-phone", whole=True)
    assert page.complaints() == []


@pytest.mark.parametrize("look", [look for look in LOOKS if look.size == "phone"], ids=str)
def test_many_classes_on_a_phone(service: Running, open_page: Opener, tmp_path: Path, look: Look) -> None:
    names = [f"part {number:02d}" for number in range(1, 24)]
    names.append("the part with a name as long as the person on the night shift made it")
    kinds = ["scratch", "dent", "rust", "clean"]
    for turn in range(2):  # the second time each is tested
        images = [defects(tmp_path, kinds[index % 4], 1, seed=100 * turn + index)[0] for index in range(24)]
        service.client.model("line-3").learn(names, images=images)
    page = at_rest(open_page(service.client.url, **look._asdict()), look)
    assert len(page.classes()) == 24
    page.show(defects(tmp_path, "dent", 2, seed=3))
    fits(page)
    bar = page.one("#teach").rect
    assert bar["height"] < 844 / 3  # the bar leaves room for the images
    last = page.all("#known button")[-1]  # reached by pushing the row aside
    page.driver.execute_script("arguments[0].scrollIntoView({ inline: 'end', block: 'nearest' })", last)
    last.click()
    page.says("#notice", "night shift made it, 4 in all")
    fits(page)
    page.button("Close this notice").click()
    page.button("Use the camera").click()
    page.until(lambda: len(page.all("#holds button")) == 24)
    fits(page)
    assert violations(page) == []
    page.button("Close the camera").click()
    page.button("Check").click()
    page.until(lambda: len(page.all("#by-class li")) == 24)
    page.until(lambda: page.all("#map circle"))
    fits(page)
    assert violations(page) == []
    page.button("Lessons").click()
    page.until(lambda: page.all("#lessons .parts"))
    fits(page)
    assert violations(page) == []
    page.button("Teach").click()
    page.choose_folder(class_folder(tmp_path / "parts", {f"dent:{name}": 1 for name in names}, seed=9))
    fits(page)
    assert page.one("#folder-teach").is_displayed()
    page.one("#folder-teach").click()  # in sight although the list is long
    page.says("#notice", "Learnt 24 images", 60)
    assert page.complaints() == []


def tab_to(page: Page, wanted: str) -> None:
    """Press Tab until something has the focus whose id is this, or whose name begins so."""
    for _ in range(80):
        page.press(Keys.TAB)
        if page.focused().startswith(wanted):
            return
    raise AssertionError(f"{wanted} is not reached by Tab")


@everywhere
def test_by_keyboard_alone(service: Running, open_page: Opener, tmp_path: Path, look: Look) -> None:
    page = open_page(service.client.url, **look._asdict())
    for wanted in ("to-teach", "model", "choose", "choose-folder", "camera-open"):
        tab_to(page, wanted)
    page.show(defects(tmp_path, "scratch", 2))
    tab_to(page, "label")
    page.press(Keys.ENTER)
    assert "Give it a name" in page.one("#label-problem").text
    page.press("scratch", Keys.ENTER)
    page.until(lambda: page.classes() == ["scratch"])
    assert page.focused() == "choose"  # the next images can be chosen at once
    page.show(defects(tmp_path, "dent", 3))
    tab_to(page, "label")
    page.press("dent")
    page.press(Keys.SHIFT + Keys.TAB)
    page.until(lambda: len(page.all(".image")) == 3)
    tab_to(page, "label")
    page.press(Keys.ENTER)
    page.until(lambda: counts(service) == {"scratch": 2, "dent": 3})
    page.press("1")  # nothing is shown, so nothing is taught
    tab_to(page, "Forget dent")
    page.press(Keys.SPACE)
    page.until(lambda: "Forgetting dent" in page.one("#leaving").text)
    tab_to(page, "Keep it: dent")
    page.press(Keys.ENTER)
    page.says("#notice", "Kept dent")
    tab_to(page, "More about models")
    page.press(Keys.ENTER)
    tab_to(page, "new-model")
    page.press(Keys.ENTER)
    page.until(lambda: page.one("#ask").is_displayed())
    page.press(Keys.ESCAPE)
    page.until(lambda: not page.one("#ask").is_displayed())
    assert counts(service) == {"scratch": 2, "dent": 3}


@everywhere
def test_a_folder_and_its_lessons_by_keyboard_alone(
    service: Running, open_page: Opener, tmp_path: Path, look: Look
) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url, **look._asdict())
    page.choose_folder(class_folder(tmp_path / "parts", {"scratch": 2, "rust:stain": 2, "dent": 2}, seed=1))
    assert page.focused() == "folder-teach"
    tab_to(page, "dent 2 images")
    page.press(Keys.SPACE)  # leaves it out
    assert page.one("#folder-teach").text == "Teach 4 images"
    page.press(Keys.ENTER)  # goes on from wherever the focus is
    page.says("#notice", "Learnt 4 images")
    tab_to(page, "to-lessons")
    page.press(Keys.ENTER)
    page.until(lambda: page.all("#lessons .parts"))
    tab_to(page, "Move to… another class: 2 images of stain")
    page.press(Keys.ENTER)
    page.until(lambda: page.one("#ask").is_displayed())
    page.press(Keys.ENTER)
    assert page.one("#ask-problem").text == "Give it a name first."
    page.press("rust", Keys.ENTER)
    page.until(lambda: "rust" in page.one("#lessons").text)
    page.until(lambda: page.focused().startswith("Move to…"))  # the focus stays among the lessons
    tab_to(page, "to-lessons")
    tab_to(page, "Take back 2 images of rust")
    page.press(Keys.ENTER)
    page.until(lambda: counts(service) == {"scratch": 6, "dent": 4})
    page.until(lambda: page.focused().startswith(("Take back", "Move to…")))
    tab_to(page, "to-teach")
    page.press(Keys.ENTER)
    page.show(defects(tmp_path, "scratch", 3, seed=5))
    page.until(lambda: len(page.all(".image .guess")) == 6)
    tab_to(page, "Pick image")
    page.press(Keys.SPACE)  # leaves the first one out
    assert page.one("#teach-button").text == "Teach 2 images"
    page.press("2")  # teaches the image that has the focus as the second class
    page.until(lambda: counts(service) == {"scratch": 6, "dent": 5})
    page.until(lambda: page.focused().startswith("Pick image"))
    assert page.complaints() == []


def test_holding_a_key_records(service: Running, open_page: Opener) -> None:
    page = open_page(service.client.url)
    page.button("Use the camera").click()
    page.until(lambda: page.driver.execute_script("return document.getElementById('video').videoWidth"))
    page.one("#hold-label").send_keys("disc")
    page.press(Keys.TAB)
    assert page.focused() == "hold-new"
    space = {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32}
    page.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyDown", **space})
    page.until(lambda: "images" in page.one("#hold-new").text)
    page.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyUp", **space})
    page.says("#notice", "of disc")
    assert counts(service)["disc"] >= 2


def test_everything_has_a_name_for_screen_readers(
    service: Running, open_page: Opener, tmp_path: Path
) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url)
    page.show(defects(tmp_path, "scratch", 1, seed=2))
    for element in page.all("button, select, input, img, svg[role=img], section"):
        if element.is_displayed() and not (element.tag_name == "img" and element.get_attribute("alt") == ""):
            assert element.accessible_name, element.get_attribute("outerHTML")


def test_nothing_comes_from_outside(service: Running, open_page: Opener) -> None:
    page = open_page(service.client.url)
    loaded = page.driver.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
    assert len(loaded) > 20
    assert all(name.startswith(service.client.url) for name in loaded)


@large_and_small
def test_the_empty_page(service: Running, open_page: Opener, look: Look) -> None:
    page = open_page(service.client.url, **look._asdict())
    assert page.all("#classes li") == []
    assert not page.one("#tray").is_displayed()
    assert len(page.all("#nothing li")) == 4  # the steps of a first lesson
    photograph(page, f"empty-{look.size}")
