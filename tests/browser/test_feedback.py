"""What the page says when things go well, and when they do not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser.page import Page, defects
from tests.browser.test_teaching import counts, two_classes
from tests.service.running import Running, Starter

Opener = Callable[..., Page]


def test_errors_in_words(service: Running, open_page: Opener, tmp_path: Path) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url)
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"this is no image")
    page.show([broken, *defects(tmp_path, "scratch", 1, seed=1)])
    assert "damaged or not an image" in page.one(".image.bad").text
    assert len(page.all(".image.bad")) == 1  # the other one got its answer
    page.button("Clear all").click()
    note = tmp_path / "note.txt"
    note.write_text("x")
    page.choose("#choose", note)
    page.says("#trouble", "no images")
    page.button("Close this message").click()
    assert not page.one("#trouble").is_displayed()


def test_a_broken_image_in_a_lesson_is_left_out(service: Running, open_page: Opener, tmp_path: Path) -> None:
    page = open_page(service.client.url)
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"this is no image")
    page.show([*defects(tmp_path, "scratch", 2), broken])  # it knows nothing yet, so nothing was looked at
    page.one("#label").send_keys("scratch", Keys.ENTER)
    page.says("#trouble", "Could not be read: broken.jpg")
    assert counts(service) == {"scratch": 2}
    assert "damaged or not an image" in page.one(".image.bad").text


def test_a_blank_label_says_so(service: Running, open_page: Opener, tmp_path: Path) -> None:
    page = open_page(service.client.url)
    page.show(defects(tmp_path, "scratch", 2))
    page.one("#teach-button").click()
    assert "Give it a name first" in page.one("#label-problem").text
    assert page.attribute("#label", "aria-invalid") == "true"
    assert page.focused() == "label"
    page.press("s")
    assert page.one("#label-problem").text == ""


@pytest.mark.parametrize(
    ("opens", "yes"),
    [
        ("Add a class…", "Choose images"),
        ("Rename dent", "Rename"),
        ("New model…", "Make it"),
        ("Move", "Move"),
    ],
)
def test_a_blank_name_in_a_dialog_says_so(
    service: Running, open_page: Opener, tmp_path: Path, opens: str, yes: str
) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url)
    if opens == "New model…":
        page.menu(opens)
    elif opens == "Move":
        page.button("Lessons").click()
        page.until(lambda: page.all("#lessons li"))
        page.button("Move to… another class: 4 images of dent").click()
    else:
        page.button(opens).click()
    page.until(lambda: page.one("#ask").is_displayed())
    field = page.one("#ask-input")
    field.clear()
    for blank in ("", "   "):
        for by_key in (True, False):
            field.send_keys(blank)
            page.press(Keys.ENTER) if by_key else page.one("#ask-yes").click()
            assert page.one("#ask-problem").text == "Give it a name first."
            assert page.attribute("#ask-input", "aria-invalid") == "true"
            assert page.focused() == "ask-input"
    field.send_keys("x")
    assert page.one("#ask-problem").text == ""
    page.press(Keys.ESCAPE)
    page.until(lambda: not page.one("#ask").is_displayed())
    assert counts(service) == {"scratch": 4, "dent": 4}


def test_a_name_that_will_not_do_says_why(service: Running, open_page: Opener, tmp_path: Path) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url)
    page.menu("New model…")
    page.until(lambda: page.one("#ask").is_displayed())
    for name, words in (
        ("Not A Name", "Small letters"),
        ("line-3", "There is a model called line-3 already"),
    ):
        page.one("#ask-input").clear()
        page.one("#ask-input").send_keys(name)
        page.button("Make it").click()
        assert words in page.one("#ask-problem").text  # and what was typed is still there
        assert page.attribute("#ask-input", "value") == name
    page.button("Cancel").click()
    page.button("Rename dent").click()
    page.one("#ask-input").send_keys("scratch", Keys.ENTER)
    assert page.one("#ask-problem").text == "There is a class called scratch already."
    page.one("#ask-input").clear()
    page.one("#ask-input").send_keys("Scratch", Keys.ENTER)
    page.until(lambda: "Call it “Scratch” beside “scratch”?" in page.one("#ask").text)
    page.button("Cancel").click()
    assert counts(service) == {"scratch": 4, "dent": 4}


def test_an_outage_loses_nothing(open_page: Opener, tmp_path: Path) -> None:
    starter = Starter(tmp_path / "data", encoder="pixels")
    running = starter()
    port = int(running.client.url.rpartition(":")[2])
    running.client.create("line-3")
    two_classes(running, tmp_path)
    page = open_page(running.client.url)
    page.show(defects(tmp_path, "scratch", 14, seed=1))
    page.driver.execute_script("window.scrollTo(0, document.body.scrollHeight)")
    running.stop()
    running.service.close()
    page.one("#label").send_keys("scratch")
    page.one("#teach-button").click()
    page.says("#trouble", "cannot be reached")
    top = page.driver.execute_script("return document.getElementById('trouble').getBoundingClientRect().top")
    assert 0 <= top < 400  # in sight although the page is scrolled
    assert len(page.all(".image")) == 14
    assert page.button("Try again").is_enabled()
    again = starter(port=port)
    # The page may have noticed by itself that the service is back.
    page.driver.execute_script("document.querySelector('#trouble-acts button')?.click()")
    page.says("#notice", "Learnt 14 images of scratch")
    assert counts(again)["scratch"] == 18
    starter.stop_all()


def test_it_notices_that_the_service_is_back(open_page: Opener, tmp_path: Path) -> None:
    starter = Starter(tmp_path / "data", encoder="pixels")
    running = starter()
    port = int(running.client.url.rpartition(":")[2])
    running.client.create("line-3")
    two_classes(running, tmp_path)
    page = open_page(running.client.url)
    running.stop()
    running.service.close()
    page.choose("#choose", *defects(tmp_path, "dent", 1, seed=1))
    page.says("#trouble", "cannot be reached")
    starter(port=port)
    page.says("#notice", "The service is back")
    page.until(lambda: not page.one("#trouble").is_displayed())
    page.until(lambda: page.all(".image .guess"))  # and the image has its answer
    starter.stop_all()


def test_two_tabs_agree(service: Running, open_page: Opener, tmp_path: Path) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url)
    page.show(defects(tmp_path, "rust", 1))
    service.client.model("line-3").learn("rust", images=defects(tmp_path, "rust", 3, seed=1))
    page.until(lambda: page.classes() == ["scratch", "dent", "rust"])
    page.until(lambda: "rust" in page.one(".image").text)


def test_the_model_used_last_opens_again(service: Running, open_page: Opener) -> None:
    service.client.create("second")
    page = open_page(service.client.url)
    assert page.attribute("#model", "value") == "line-3"
    page.all("#model option")[1].click()
    page.until(lambda: page.driver.current_url.endswith("#second"))
    page.driver.get("about:blank")
    page.open()
    assert page.attribute("#model", "value") == "second"


def test_notices_move_nothing(service: Running, open_page: Opener, tmp_path: Path) -> None:
    page = open_page(service.client.url)
    before = page.one("#show").rect["y"]
    page.teach(defects(tmp_path, "scratch", 2), "scratch")
    assert page.one("#notice").text
    assert page.one("#show").rect["y"] == before


def test_a_token_is_asked_for(tmp_path: Path, open_page: Opener) -> None:
    starter = Starter(tmp_path / "data", encoder="pixels")
    running = starter(need_token=True)
    secret = running.service.tokens.add("me", "admin")
    running.service.create("line-3")
    page = open_page("about:blank", wait=False)
    page.url = running.client.url
    page.driver.get(page.url)
    page.until(lambda: page.one("#ask").is_displayed())
    page.one("#ask-input").send_keys(secret, Keys.ENTER)
    page.ready()
    page.teach(defects(tmp_path, "scratch", 2), "scratch")
    page.until(lambda: page.classes() == ["scratch"])
    starter.stop_all()
