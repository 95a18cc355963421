"""How far to trust it: the view Check."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.browser.looks import Look, everywhere
from tests.browser.page import Page, class_folder, defects
from tests.browser.screenshots import photograph
from tests.browser.test_teaching import counts, much, two_classes
from tests.service.running import Running

Opener = Callable[..., Page]


@everywhere
def test_a_test_learns_nothing(seeing: Running, open_page: Opener, tmp_path: Path, look: Look) -> None:
    much(seeing, tmp_path)
    before = counts(seeing)
    folder = class_folder(tmp_path / "unseen", {"scratch": 6, "dent": 6, "rust": 4}, seed=40)
    page = open_page(seeing.client.url, **look._asdict())
    page.button("Check").click()
    page.choose("#test-folder", folder)
    page.until(lambda: page.one("#folder").is_displayed())
    assert "It does not know this class" in page.one("#folder-classes").text  # rust
    page.button("Test 16 images").click()
    page.until(lambda: page.all("#test-result table"), 60)
    said = page.one("#test-result").text
    assert "of 12, likely" in said
    assert "Of 4 images of classes it does not know" in said
    assert "promised: 95 in 100" in said
    assert {element.text for element in page.all("#by-class .name")} == {"scratch", "dent"}
    assert counts(seeing) == before
    if str(look) == "desktop-light":
        photograph(page, "check", whole=True)
    assert page.complaints() == []


def test_what_a_test_folder_holds_is_said_before(service: Running, open_page: Opener, tmp_path: Path) -> None:
    two_classes(service, tmp_path)
    before = counts(service)
    folder = class_folder(tmp_path / "unseen", {"scratch:Scratch": 3, "dent": 2}, seed=40)
    (folder / "dent" / "notes.txt").write_text("x")
    loose = defects(folder, "clean", 1)[0]
    page = open_page(service.client.url)
    page.button("Check").click()
    page.choose("#test-folder", folder)
    page.until(lambda: page.one("#folder").is_displayed())
    assert "nothing is learnt" in page.one("#folder").text
    assert "the same as “scratch”, which it knows" in page.one("#folder-classes").text
    notes = page.one("#folder-notes").text
    assert f"1 image in no subfolder, not tested: {loose.name}." in notes
    assert "Left out, not images: notes.txt." in notes
    assert not page.one("#folder-teach").is_displayed()
    assert not page.one("#folder-look").is_displayed()
    page.button("Test 5 images").click()
    page.until(lambda: "of 5, likely" in page.one("#test-result").text, 60)
    assert {element.text for element in page.all("#by-class .name")} == {"scratch", "dent"}
    page.choose("#test-folder", folder)
    page.until(lambda: page.one("#folder").is_displayed())
    page.one("#folder-classes .same").click()  # no, it is another one
    page.button("Test 5 images").click()
    page.until(lambda: "Of 3 images of classes it does not know" in page.one("#test-result").text, 60)
    assert counts(service) == before
    assert page.all(".image") == []  # nothing was put into the tray


def test_a_folder_without_a_test_says_why(service: Running, open_page: Opener, tmp_path: Path) -> None:
    page = open_page(service.client.url)
    page.button("Check").click()
    page.choose("#test-folder", class_folder(tmp_path / "unseen", {"scratch": 2}))
    page.says("#trouble", "It knows nothing yet")
    two_classes(service, tmp_path)
    page.driver.refresh()
    page.ready()
    page.button("Check").click()
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "sheet.pdf").write_text("x")
    page.choose("#test-folder", tmp_path / "papers")
    page.says("#trouble", "Sheet.pdf: no images. A test needs a folder")


def test_a_test_from_the_preview_of_a_folder(service: Running, open_page: Opener, tmp_path: Path) -> None:
    much(service, tmp_path)
    before = counts(service)
    page = open_page(service.client.url)
    page.choose_folder(class_folder(tmp_path / "unseen", {"scratch": 2, "dent": 2}, seed=41))
    page.button("Test, learn nothing").click()
    page.until(lambda: page.one("#view-check").is_displayed(), 60)
    assert "of 4, likely" in page.one("#test-result").text
    assert counts(service) == before


def test_a_change_of_model_while_its_data_are_read(
    service: Running, open_page: Opener, tmp_path: Path
) -> None:
    two_classes(service, tmp_path)
    service.client.create("line-4")
    for _ in range(2):
        service.client.model("line-4").learn("rust", images=defects(tmp_path, "rust", 3))
        service.client.model("line-4").learn("clean", images=defects(tmp_path, "clean", 3))
    page = open_page(f"{service.client.url}/#line-3")
    page.driver.execute_script(
        """
        const ask = window.fetch;
        window.fetch = async (path, options) => {
          if (/line-3.(confusion|map)/.test(path)) await new Promise((end) => setTimeout(end, 3000));
          return ask(path, options);
        };
        """
    )
    page.button("Check").click()
    page.one("#model option[value=line-4]").click()
    page.until(lambda: {element.text for element in page.all("#by-class .name")} == {"rust", "clean"})
    page.until(lambda: set(page.one("#closest").text.split()) == {"rust", "and", "clean"})


def test_what_the_service_counted(service: Running, open_page: Opener, tmp_path: Path) -> None:
    much(service, tmp_path)
    page = open_page(service.client.url)
    page.button("Check").click()
    page.until(lambda: len(page.all("#by-class li")) == 2)
    assert not page.one("#sources").is_displayed()  # there was no test to choose
    tested = service.client.model("line-3").confusion()["classes"]
    lines = {element.text.split("\n")[0]: element.text for element in page.all("#by-class li")}
    for line in tested:
        assert f"{line['right']} of {line['tested']}, likely" in lines[line["label"]]
    assert len(page.all("#confusion rect.right")) <= 2
    page.until(lambda: len(page.all("#map circle")) == 2)
    assert set(page.one("#closest").text.split()) == {"dent", "and", "scratch"}
    assert "likely between" in page.one("#curve-words").text
    assert page.attribute("#curve .band", "d").startswith("M")
    assert page.complaints() == []
