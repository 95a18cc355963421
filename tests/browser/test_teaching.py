"""Teaching images, one by one and many at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from selenium.webdriver.common.keys import Keys

from tests.browser.looks import Look, everywhere, large_and_small
from tests.browser.page import Page, defects
from tests.browser.screenshots import photograph
from tests.service.running import Running

Opener = Callable[..., Page]


def counts(service: Running) -> dict[str, int]:
    """Return how many samples each class has."""
    return {line.label: line.count for line in service.client.model("line-3").classes()}


def two_classes(service: Running, folder: Path, each: int = 4) -> None:
    """Teach scratches and dents."""
    for kind in ("scratch", "dent"):
        service.client.model("line-3").learn(kind, images=defects(folder, kind, each))


def much(service: Running, folder: Path) -> None:
    """Teach scratches and dents until it can be sure."""
    two_classes(service, folder)
    for seed in range(2, 12):
        images = defects(folder, "scratch", 5, seed=seed) + defects(folder, "dent", 5, seed=seed)
        service.client.model("line-3").learn(["scratch"] * 5 + ["dent"] * 5, images=images)


@everywhere
def test_a_day_at_the_line(seeing: Running, open_page: Opener, tmp_path: Path, look: Look) -> None:
    page = open_page(seeing.client.url, **look._asdict())
    assert "How to teach it" in page.text  # the empty page says what to do
    assert "Learnt 3 images of scratch, 3 in all" in page.teach(defects(tmp_path, "scratch", 3), "scratch")
    page.until(lambda: page.classes() == ["scratch"])
    assert "How to teach it" not in page.text
    page.teach(defects(tmp_path, "dent", 3), "dent")
    page.until(lambda: page.classes() == ["scratch", "dent"])  # each keeps its place, and its key

    page.show(defects(tmp_path, "scratch", 1, seed=1) + defects(tmp_path, "dent", 1, seed=1))
    named = page.all(
        ".image .bars li:first-child .name"
    )  # "Teach image 1 as dent", of which the name is seen
    said = {element.text.split()[-1] for element in named}
    assert said == {"scratch", "dent"}
    page.button("Clear all").click()

    for round_ in range(2, 5):  # more of both, so that the chart has something to show
        for kind in ("scratch", "dent"):
            page.show(defects(tmp_path, kind, 4, seed=round_))
            page.button(f"Teach as {kind}").click()  # one click teaches all that are picked
            page.until(lambda: not page.all(".image"))
    page.until(lambda: page.one("#recent").text.endswith("%"))
    assert "likely between" in page.one("#right-words").text

    page.show(defects(tmp_path, "rust", 1) + defects(tmp_path, "clean", 1))
    page.all(".image .pick")[0].click()  # leave it out
    page.one("#label").send_keys("clean")
    assert page.one("#teach-button").text == "Teach 1 image as “clean”"

    page.driver.refresh()
    page.ready()
    assert page.classes() == ["scratch", "dent"]
    assert counts(seeing) == {"dent": 15, "scratch": 15}
    assert page.complaints() == []


def test_verdicts_are_said_in_words(seeing: Running, open_page: Opener, tmp_path: Path) -> None:
    two_classes(seeing, tmp_path, 2)
    page = open_page(seeing.client.url)
    page.show(defects(tmp_path, "scratch", 1, seed=1))
    assert "and it takes 19" in page.one(".image.unsure .meaning").text
    for seed in range(2, 22):  # what is new takes more tests than what is sure
        for kind in ("scratch", "dent"):
            seeing.client.model("line-3").learn(kind, images=defects(tmp_path, kind, 5, seed=seed))
    page.driver.refresh()
    page.ready()
    known = [path for kind in ("scratch", "dent", "scratch") for path in defects(tmp_path, kind, 1, seed=30)]
    page.show(known + defects(tmp_path, "rust", 1))
    assert "At most 5 in 100 such answers are wrong" in page.one(".image.sure .meaning").text
    assert "Stranger than 95 in 100" in page.one(".image.new .meaning").text
    assert (
        page.all("#images > li")[0].get_attribute("class") == "image new"
    )  # what it is least sure of comes first
    photograph(page, "teach-desktop", whole=True)
    assert page.complaints() == []


def test_keys_and_buttons_teach_single_images(service: Running, open_page: Opener, tmp_path: Path) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url)
    page.show(defects(tmp_path, "scratch", 3, seed=1))
    assert [key.text for key in page.all("#known kbd")] == ["1", "2"]
    page.driver.execute_script("document.querySelectorAll('#images .pick')[1].focus()")
    page.press("2")  # the key of the second class, for the image that has the focus
    page.until(lambda: len(page.all(".image")) == 2)
    assert counts(service) == {"scratch": 4, "dent": 5}
    assert page.focused().startswith("Pick image")  # the focus stays among the images
    page.until(lambda: len(page.all(".image .guess")) == 4)
    page.all(".image .guess")[0].click()  # the likeliest class of the first image
    page.until(lambda: len(page.all(".image")) == 1)
    page.one("#label").send_keys("1")  # no key for a class while one types
    assert len(page.all(".image")) == 1
    page.one("#label").clear()
    page.one("#keys").click()
    page.driver.execute_script("document.querySelector('#images .pick').focus()")
    page.press("1")
    page.one("#keys").click()
    assert len(page.all(".image")) == 1  # keys can be switched off
    page.press("1")  # without a focused image: all that are picked
    page.until(lambda: not page.all(".image"))
    assert sum(counts(service).values()) == 11


@large_and_small
def test_picking_by_what_it_says(seeing: Running, open_page: Opener, tmp_path: Path, look: Look) -> None:
    much(seeing, tmp_path)
    page = open_page(seeing.client.url, **look._asdict())
    page.show(
        defects(tmp_path, "scratch", 7, seed=30)
        + defects(tmp_path, "dent", 6, seed=30)
        + defects(tmp_path, "rust", 3)
    )
    assert "tiles" in page.attribute("#images", "class")  # many images are small
    page.until(lambda: page.one("#teach-button").text == "Teach 16 images")
    page.button("None").click()
    assert not page.one("#teach-button").is_enabled()
    assert page.one("#teach-button").text == "Teach 0 images"
    sure = len(page.all(".image.sure"))
    assert sure > 4
    page.button(f"Sure {sure}").click()
    assert page.one("#teach-button").text == f"Teach {sure} images"
    for option in page.all("#pick-class option"):
        if option.text.startswith("scratch"):
            option.click()
    picked = page.all(".image .pick[aria-pressed=true]")
    assert 0 < len(picked) < 16
    assert all("scratch" in element.accessible_name for element in picked)

    page.one("#teach-sure").click()
    assert "at most 5 in 100 are wrong" in page.one("#ask").text
    page.button("Teach them").click()
    page.says("#notice", f"Learnt {sure} images")
    page.until(lambda: len(page.all(".image")) == 16 - sure)
    assert sum(counts(seeing).values()) == 108 + sure
    assert "tiles" not in page.attribute("#images", "class")  # few have room
    page.one("#size").click()
    assert "tiles" in page.attribute("#images", "class")


def test_similar_labels_are_asked_about(service: Running, open_page: Opener, tmp_path: Path) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url)
    page.show(defects(tmp_path, "dent", 2, seed=1))
    page.one("#label").send_keys("Dent", Keys.ENTER)
    page.until(lambda: page.one("#ask").is_displayed())
    assert "Is “Dent” the same as “dent”?" in page.one("#ask").text
    page.button("Cancel").click()
    assert len(page.all(".image")) == 2
    page.one("#label").send_keys(Keys.ENTER)
    page.button("Teach as dent").click()
    page.until(lambda: counts(service) == {"scratch": 4, "dent": 6})
    page.show(defects(tmp_path, "dent", 2, seed=2))
    page.one("#label").send_keys("dents", Keys.ENTER)
    page.button("dents is new").click()
    page.until(lambda: counts(service) == {"scratch": 4, "dent": 6, "dents": 2})


@large_and_small
def test_class_cards(service: Running, open_page: Opener, tmp_path: Path, look: Look) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url, **look._asdict())
    page.button("Add images to dent").click()
    page.choose("#add-to-class", *defects(tmp_path, "dent", 3, seed=1))
    page.says("#notice", "Learnt 3 images of dent, 7 in all")
    page.until(lambda: page.one("#total").text == "11 images")
    page.button("Add a class…").click()
    page.one("#ask-input").send_keys("rust", Keys.ENTER)
    page.choose("#add-to-class", *defects(tmp_path, "rust", 2))
    page.until(lambda: page.classes() == ["scratch", "dent", "rust"])
    page.button("Rename scratch").click()
    page.one("#ask-input").send_keys("Kratzer <b>1</b> / ü", Keys.ENTER)  # the old name is selected
    page.until(lambda: page.classes() == ["Kratzer <b>1</b> / ü", "dent", "rust"])  # in its old place
    assert page.complaints() == []


def test_undo(service: Running, open_page: Opener, tmp_path: Path) -> None:
    page = open_page(service.client.url)
    page.teach(defects(tmp_path, "scratch", 3), "scratch")
    page.until(lambda: page.classes() == ["scratch"])
    assert "one more image saves it" in page.teach(defects(tmp_path, "dent", 1), "worn")
    page.until(lambda: page.classes() == ["scratch", "worn"])
    assert "in memory only" in page.text
    page.button("Undo").click()
    page.says("#notice", "Taken back. 1 image is in the tray again.")
    page.until(lambda: page.classes() == ["scratch"])
    page.until(lambda: len(page.all(".image .guess")) == 1)  # and was looked at
    page.one("#label").send_keys("dent", Keys.ENTER)  # this time right
    page.until(lambda: page.classes() == ["scratch", "dent"])
    page.button("Lessons").click()
    page.until(lambda: len(page.all("#lessons li")) == 2)
    page.button("Take back 3 images of scratch").click()
    page.says("#notice", "Taken back. 3 images are in the tray again.")
    page.button("Teach").click()
    page.until(lambda: len(page.all(".image")) == 3)
    assert counts(service) == {"dent": 1}


def test_a_class_that_is_taught_is_not_forgotten(service: Running, open_page: Opener, tmp_path: Path) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url)
    page.show(defects(tmp_path, "dent", 2, seed=1))
    page.button("Forget dent").click()
    page.says("#leaving", "Forgetting dent")
    page.until(lambda: len(page.all("#known button")) == 1)  # no button for a class on its way out
    page.one("#label").send_keys("dent", Keys.ENTER)
    page.says("#notice", "Learnt 2 images of dent, 6 in all. dent is not forgotten.")
    assert page.one("#leaving").text == ""
    page.button("Forget scratch").click()  # and somebody else teaches it in that moment
    service.client.model("line-3").learn("scratch", images=defects(tmp_path, "scratch", 1, seed=1))
    page.says("#notice", "scratch has been taught meanwhile, so it stays.", 30)
    assert counts(service) == {"scratch": 5, "dent": 6}


@large_and_small
def test_a_class_is_forgotten_after_a_moment(
    service: Running, open_page: Opener, tmp_path: Path, look: Look
) -> None:
    two_classes(service, tmp_path)
    page = open_page(service.client.url, **look._asdict())
    page.button("Forget dent").click()
    page.says("#leaving", "Forgetting dent, learnt from 4 images")
    assert "about to be forgotten" in page.one("#classes").text
    assert page.focused() == "Keep it: dent"
    page.button("Keep it: dent").click()
    page.says("#notice", "Kept dent")
    page.until(lambda: page.focused() == "Forget dent")
    assert counts(service) == {"scratch": 4, "dent": 4}
    page.button("Forget dent").click()
    assert counts(service) == {"scratch": 4, "dent": 4}  # not yet
    page.until(lambda: page.classes() == ["scratch"])
    assert counts(service) == {"scratch": 4}
    page.button("Forget scratch").click()
    page.driver.get("about:blank")  # leaves in that moment
    page.alert()  # the browser may ask before it leaves
    page.open()
    assert "left before scratch was forgotten" in page.says("#notice", "It still knows it")
    assert counts(service) == {"scratch": 4}
    page.button("Forget it now").click()
    page.until(lambda: page.classes() == [])
