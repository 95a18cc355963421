"""For everyone: axe-core, the keyboard alone, small screens, fingers, and no network."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser.page import Page, class_folder, defects
from tests.browser.screenshots import photograph
from tests.browser.test_teaching import counts, much, two_classes
from tests.service.running import Running

Opener = Callable[..., Page]
AXE = os.environ.get("I2CANSAY_AXE", "")
"""A newer axe.min.js than the one of the package, where there is one."""
SIZES_AND_COLOURS = [(size, dark) for size in ("desktop", "phone") for dark in (False, True)]


def violations(page: Page) -> list[str]:
    """Return what axe-core finds, with the element."""
    script = Path(AXE).read_text() if AXE else files("axe_core_python").joinpath("axe.min.js").read_text()
    page.driver.execute_script(script)
    found: list[dict[str, Any]] = page.driver.execute_async_script(
        "const [end] = arguments; axe.run().then(({ violations }) => end(violations))"
    )
    return [f"{each['id']}: {node['html'][:150]}" for each in found for node in each["nodes"]]


@pytest.mark.parametrize(("size", "dark"), SIZES_AND_COLOURS)
def test_axe_finds_nothing(
    service: Running, open_page: Opener, tmp_path: Path, size: str, dark: bool
) -> None:
    page = open_page(service.client.url, size=size, dark=dark)
    page.driver.execute_cdp_cmd(  # a colour is judged when it has come to rest
        "Emulation.setEmulatedMedia",
        {
            "features": [
                {"name": "prefers-reduced-motion", "value": "reduce"},
                {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            ]
        },
    )
    assert violations(page) == []  # empty
    much(service, tmp_path)
    page.driver.refresh()
    page.ready()
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
    page.button("Clear all").click()
    page.button("Use the camera").click()
    page.until(lambda: page.one("#live-says").text)
    page.button("Forget dent").click()
    assert violations(page) == []  # the camera, and a class on its way out
    page.button("Keep it: dent").click()
    page.button("Close the camera").click()
    page.choose_folder(class_folder(tmp_path / "unseen", {"scratch": 2, "dent:Dent": 2}, seed=41))
    assert violations(page) == []  # the preview
    page.one("#folder-test").click()
    page.until(lambda: page.all("#test-result table"), 60)
    assert violations(page) == []  # the view Check
    page.button("Lessons").click()
    assert violations(page) == []
    page.button("Teach").click()
    page.menu("New model…")
    page.until(lambda: page.one("#ask").is_displayed())
    assert violations(page) == []


@pytest.mark.parametrize(("size", "dark"), SIZES_AND_COLOURS)
def test_nothing_is_too_wide_or_too_small(
    service: Running, open_page: Opener, tmp_path: Path, size: str, dark: bool
) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url, size=size, dark=dark)
    page.show(defects(tmp_path, "scratch", 1, seed=3) + defects(tmp_path, "dent", 1, seed=3))
    too_wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    small = "return [...document.querySelectorAll('button, .button, select, summary, #label')]" + (
        ".filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 44).map(e => e.outerHTML)"
    )
    for view in ("Teach", "Check", "Lessons"):
        page.button(view).click()
        assert page.driver.execute_script(too_wide) == 0
        assert page.driver.execute_script(small) == []  # large enough for a finger
    page.button("Teach").click()
    if size == "phone" and dark:
        photograph(page, "teach-phone", whole=True)
    assert page.complaints() == []


def tab_to(page: Page, wanted: str) -> None:
    """Press Tab until something has the focus."""
    for _ in range(80):
        page.press(Keys.TAB)
        if page.focused() == wanted:
            return
    raise AssertionError(f"{wanted} is not reached by Tab")


def test_by_keyboard_alone(service: Running, open_page: Opener, tmp_path: Path) -> None:
    page = open_page(service.client.url)
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


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_the_empty_page(service: Running, open_page: Opener, size: str) -> None:
    page = open_page(service.client.url, size=size)
    assert page.all("#classes li") == []
    assert not page.one("#tray").is_displayed()
    assert len(page.all("#nothing li")) == 4  # the steps of a first lesson
    photograph(page, f"empty-{size}")
