"""Flowcharts are drawn whole, or refused."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from docs_site.flowchart import Edge, NotDrawn, arrange, draw, draw_flowcharts, layers_of, parse

CHART = """flowchart LR
    a["first"] --> b["second: with many words that do not fit into one line of a box"] -- "or" --> d
    b -. when asked .-> c
    c -.-> d
    e --> d
"""


def test_nodes_and_arrows_are_read() -> None:
    nodes, edges = parse(CHART)
    assert list(nodes) == ["a", "b", "d", "c", "e"]
    assert edges == [
        Edge("a", "b"),
        Edge("b", "d", "or"),
        Edge("b", "c", "when asked", dotted=True),
        Edge("c", "d", dotted=True),
        Edge("e", "d"),
    ]


def test_a_node_is_below_those_that_lead_to_it() -> None:
    assert layers_of(*parse(CHART)) == {"a": 0, "b": 1, "c": 2, "d": 3, "e": 2}


def test_boxes_do_not_overlap_and_long_arrows_go_around() -> None:
    nodes, edges = parse(CHART)
    spots, bends, width, height = arrange(nodes, edges)
    boxes = [spots[name] for name in nodes]
    for number, one in enumerate(boxes):
        assert one.x - 125 >= 0
        assert one.x + 125 <= width
        assert one.y + one.height <= height
        for other in boxes[number + 1 :]:
            assert (
                abs(one.x - other.x) >= 250 or one.y + one.height < other.y or other.y + other.height < one.y
            )
    (bend,) = bends[Edge("b", "d", "or")]
    assert all(abs(spots[bend].x - box.x) > 125 for box in boxes if box.y == spots[bend].y)


def test_the_drawing_has_every_word() -> None:
    drawing = ElementTree.fromstring(draw(CHART))
    words = " ".join(element.text or "" for element in drawing.iter() if element.text)
    for word in ("first", "second:", "box", "or", "when asked", "d", "e"):
        assert word in words
    assert len([each for each in drawing.iter() if each.tag.endswith("rect")]) == 5


@pytest.mark.parametrize(
    "chart",
    [
        "graph TD\n a --> b",
        "flowchart LR\n a ==> b",
        "flowchart LR\n a(round) --> b",
        "flowchart LR\n a --> b --> a",
    ],
)
def test_what_is_not_understood_is_refused(chart: str) -> None:
    with pytest.raises(NotDrawn):
        draw(chart)


def test_other_blocks_of_a_page_stay() -> None:
    page = "before\n```mermaid\nflowchart LR\n a --> b\n```\n```python\nx = 1\n```\nafter\n"
    drawn = draw_flowcharts(page)
    assert drawn.startswith("before\n<svg ")
    assert drawn.endswith("\n```python\nx = 1\n```\nafter\n")
