"""The modules of the page that are pure, in the browser that runs them."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.browser.page import Page
from tests.service.running import Running

Opener = Callable[..., Page]


@pytest.fixture
def page(service: Running, open_page: Opener) -> Page:
    return open_page(service.client.url)


def test_similar_labels(page: Page) -> None:
    cases = {
        ("Dent", "dent"): "dent",
        ("dents", "dent"): "dent",
        ("Kühler", "Kuhler"): "Kuhler",
        ("hair-line", "hair line"): "hair line",
        ("scrach", "scratch"): "scratch",
        ("dent", "dent"): "",
        ("bolt 1", "bolt 2"): "",
        ("cat", "car"): "",
        ("rust", "dent"): "",
        ("猫", "犬"): "",
    }
    pairs = [list(case) for case in cases]
    found = page.module("/state/labels.js", f"{pairs}.map(([a, b]) => module.similar(a, [b]))")
    assert dict(zip(cases, found, strict=True)) == cases


def test_classes_of_folders(page: Page) -> None:
    def classes(*paths: str) -> dict[str, list[str]]:
        script = (
            "(() => { const found = "
            + str(list(paths))
            + ".map(path => ({ file: { name: path.split('/').pop() }, folders: path.split('/').slice(0, -1) }));"
            " const { classes, loose } = module.classesOf(found);"
            " return { ...Object.fromEntries(classes.map(each => [each.label, each.files.map(f => f.name)])),"
            " '': loose.map(f => f.name) }; })()"
        )
        found: dict[str, list[str]] = page.module("/state/files.js", script)
        return found

    assert classes("parts/dent/1.png", "parts/rust/2.png") == {"dent": ["1.png"], "rust": ["2.png"], "": []}
    assert classes("dent/1.png", "rust/2.png") == {"dent": ["1.png"], "rust": ["2.png"], "": []}
    assert classes("parts/1.png", "parts/dent/2.png") == {"dent": ["2.png"], "": ["1.png"]}
    assert classes("a/train/dent/1.png", "a/test/dent/2.png") == {"dent": ["1.png", "2.png"], "": []}
    assert classes("dent/1.png") == {"dent": ["1.png"], "": []}
    assert classes("1.png") == {"": ["1.png"]}


def test_parts_are_small_in_number_and_in_bytes(page: Page) -> None:
    script = "module.parts({}.map(size => ({{ size }})), ({{ size }}) => size).map(part => part.length)"
    assert page.module("/state/batches.js", script.format([1] * 40)) == [16, 16, 8]
    mega = 2**20
    assert page.module("/state/batches.js", script.format([10 * mega] * 3 + [100 * mega, 1])) == [2, 1, 1, 1]
    assert page.module("/state/batches.js", "module.parts([])") == []
    assert page.module("/state/batches.js", "module.interleaved([[1, 2, 3], [4], [5, 6]])") == [
        1,
        4,
        5,
        2,
        6,
        3,
    ]


def test_intervals_hold_the_share(page: Page) -> None:
    low, high = page.module("/state/interval.js", "Object.values(module.interval(8, 10))")
    assert low == pytest.approx(0.4902, abs=1e-3)  # Wilson's interval, as in any textbook
    assert high == pytest.approx(0.9433, abs=1e-3)
    assert page.module("/state/interval.js", "module.interval(0, 0)") == {"low": 0, "high": 1}


def test_cells_of_a_table_run_nothing(page: Page) -> None:
    given = ["plain", 'say "a, b"', "=1+1", "-2", "@x", 0.5]
    found = page.module("/state/csv.js", f"{given}.map(module.cell)")
    assert found == ["plain", '"say ""a, b"""', "'=1+1", "'-2", "'@x", "0.5"]


def test_parts_of_a_folder_are_one_lesson(page: Page) -> None:
    def lesson(id: str, labels: dict[str, int], **facts: object) -> dict[str, object]:
        common = {"at": 1, "until": 9, "own": True, "who": "", "series": "", "reasons": {}}
        return {**common, "id": id, "labels": labels, "n": sum(labels.values()), **facts}

    newest_first = [
        lesson("3", {"a": 1, "b": 2}, series="x", at=3, until=12, reasons={"b": "too few"}),
        lesson("2", {"a": 4}, series="x", at=2, until=11),
        lesson("1", {"a": 5}),
        lesson("0", {"a": 1}, series="x", own=False),  # somebody else has moved it
    ]
    groups = page.module("/state/lesson_groups.js", f"module.groupsOf({json.dumps(newest_first)})")
    assert [group["ids"] for group in groups] == [["2", "3"], ["1"], ["0"]]
    folder = groups[0]
    assert (folder["n"], folder["at"], folder["until"]) == (7, 3, 11)
    assert folder["classes"] == [
        {"label": "a", "n": 5, "ids": ["2", "3"], "reason": ""},
        {"label": "b", "n": 2, "ids": ["3"], "reason": "too few"},
    ]


def test_a_class_called_by_a_digit_has_its_key(page: Page) -> None:
    classes = [{"label": label, "first": first} for first, label in enumerate(["dent", "2", "1", "rust"])]
    script = (
        f"(module.arrange('digits', {json.dumps(classes)}), ['dent', '2', '1', 'rust'].map(module.keyOf))"
    )
    assert page.module("/state/slots.js", script) == ["3", "2", "1", "4"]


def test_images_of_lessons_are_at_hand_for_a_while(page: Page) -> None:
    script = (
        "(() => { const pairs = (label, n) => Array.from({ length: n }, (_, file) => ({ file, label }));"
        " module.keepImages('first', pairs('a', 300));"
        " module.keepImages('second', [...pairs('a', 2), ...pairs('b', 3)]);"
        " module.relabelImages('b', 'c', 'second');"
        " const some = module.releaseImages('second', 'c').length;"
        " const rest = module.releaseImages('second').length;"
        " module.keepImages('third', pairs('a', 300));"  # more than it keeps: the oldest goes
        " return [some, rest, module.releaseImages('first').length, module.releaseImages('third').length,"
        " module.releaseImages('third').length]; })()"
    )
    assert page.module("/state/taught.js", script) == [3, 2, 0, 300, 0]
