"""Reports from records of a real, small run."""

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from i2cansay.experiments import Record, load_records
from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.report.packing import pack_tables
from i2cansay.experiments.report.plan_models import plan_model
from i2cansay.experiments.report.report_markdown import results_markdown
from i2cansay.experiments.report.report_page import report_page
from i2cansay.experiments.report.report_tables import measure_all
from i2cansay.experiments.report.table_model import print_model
from i2cansay.experiments.run.reproduction import Reproduction, reproduce_table

CHOICE = Choice(dataset="digits", encoder="pixels", backbone="resnet50", seeds=2)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Reproduction, list[Record], Path]:
    pytest.importorskip("PIL")
    folder = tmp_path_factory.mktemp("records")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("I2CANSAY_CACHE", str(tmp_path_factory.mktemp("cache")))
        done = reproduce_table("table1", CHOICE, folder, jobs=1)
    return done, load_records(folder), folder


def by_hand(records: list[Record], **wanted: object) -> str:
    """Mean and deviation straight from the counts, without the code under test."""
    values = []
    for text in (record.to_json() for record in records):
        record = json.loads(text)
        if all(record["cell"][key] == value for key, value in wanted.items()):
            outcome = record["outcome"]
            values.append(100 * sum(outcome["checkpoints"][-1]["correct"]) / sum(outcome["test_counts"]))
    mean = sum(values) / len(values)
    std = (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5
    return f"{mean:.1f} ± {std:.1f}"


def test_the_terminal_table_shows_every_row_and_what_is_not_built(
    run: tuple[Reproduction, list[Record], Path],
) -> None:
    stream = io.StringIO()
    print_model(plan_model(run[0].measured), Console(file=stream, width=200))
    text = stream.getvalue()
    for title in ("CoPE", "CN-DPM", "Naive", "Ensemble", "DSDM, low data", "I2CANSAY, low data"):
        assert title in text
    assert "on digits, which is not the paper's; pixels in place of resnet50" in text
    assert by_hand(run[1], learner="naive", stream="step:1", fraction=None) in text


def test_markdown_has_the_numbers_of_the_records(run: tuple[Reproduction, list[Record], Path]) -> None:
    text = results_markdown(run[1])
    (line,) = [line for line in text.splitlines() if line.startswith("| Naive |") and "17" in line][:1]
    for stream in ("step:2", "step:1", "gaussian", "step:5"):
        assert by_hand(run[1], learner="naive", stream=stream, fraction=None) in line
    ours = next(line for line in text.splitlines() if line.startswith("| I2CANSAY | 0 |"))
    assert by_hand(run[1], learner="i2cansay", stream="step:1", fraction=None, parameters={}) in ours


def test_results_do_not_depend_on_the_order_of_the_records(
    run: tuple[Reproduction, list[Record], Path],
) -> None:
    assert results_markdown(run[1]) == results_markdown(run[1][::-1])


def test_the_page_stands_alone_and_its_tags_are_closed(run: tuple[Reproduction, list[Record], Path]) -> None:
    page = report_page(run[1])
    assert not re.search(r"""(src|href)=["'](?!#)|url\((?!#)|@import|<script""", page)
    open_tags: list[str] = []
    names: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag != "meta":
                open_tags.append(tag)
            identity = dict(attrs).get("id")
            if identity is not None:
                names.append(identity)

        def handle_endtag(self, tag: str) -> None:
            assert open_tags.pop() == tag

    Reader().feed(page)
    assert not open_tags
    assert set(re.findall(r"""(?:xlink:href="|url\()#([^")]*)""", page)) <= set(names)
    assert not re.search(r"#0000[01]", page), "a colour that is not the page's"
    assert page.count("<figure>") >= 8
    assert by_hand(run[1], learner="naive", stream="step:1", fraction=None) in page
    assert "nan" not in page


def test_packing_keeps_every_record_of_a_table_and_reports_the_same(
    run: tuple[Reproduction, list[Record], Path], tmp_path: Path
) -> None:
    counts = pack_tables(run[1], tmp_path)
    assert sum(counts.values()) == len(run[1])
    packed = load_records(tmp_path)
    assert results_markdown(packed) == results_markdown(run[1])


def test_a_corrupt_record_is_not_averaged_in(
    run: tuple[Reproduction, list[Record], Path], tmp_path: Path
) -> None:
    pack_tables(run[1], tmp_path)
    file = tmp_path / "table1.jsonl"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0].replace('"correct":[', '"correct":[9'), *lines[1:]]))
    said: list[str] = []
    assert len(load_records(tmp_path, report=said.append)) == len(lines) - 1
    assert len(said) == 1


def test_other_features_under_the_same_name_are_not_mixed(
    run: tuple[Reproduction, list[Record], Path],
) -> None:
    from dataclasses import replace

    records = run[1]
    stranger = replace(records[0], key="x", features={**records[0].features, "fingerprint": "other"})
    with pytest.raises(ValueError, match="two different sets of features"):
        measure_all([*records, stranger])
