"""Flowcharts of Mermaid as SVG, from top to bottom, drawn while the site is built: no script, nothing fetched.

Only what the pages use is understood: `flowchart LR`, nodes `name` and `name["words"]`, chains of `-->`, `-.->`,
`-- words -->` and `-. words .->`. Anything else is an error, so that no chart goes out half drawn.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from docs_site.places import lines_with_fences

NODE = re.compile(r'\s*(?P<name>\w+)(?:\["(?P<words>[^"]+)"\])?\s*')
ARROW = re.compile(r"(?:-- (?P<solid>.+?) -->|-\. (?P<dotted>.+?) \.->|(?P<bare>-->|-\.->))")
CHARACTERS, LINE, PADDING = 30, 20, 12
BOX, DUMMY, GAP, DROP = 250, 40, 26, 46


class NotDrawn(ValueError):
    """A chart that this module cannot draw."""


@dataclass(frozen=True)
class Edge:
    """An arrow between two nodes, with words beside it or none."""

    start: str
    end: str
    words: str = ""
    dotted: bool = False


@dataclass(frozen=True)
class Spot:
    """Where a node is: the middle of its upper edge, and its height; a bend of a long arrow has none."""

    x: float
    y: float
    height: float


def draw_flowcharts(text: str) -> str:
    """Return a page with its Mermaid blocks replaced by drawings."""
    result: list[str] = []
    chart: list[str] | None = None
    for line, _ in lines_with_fences(text):
        if chart is None and line.strip() == "```mermaid":
            chart = []
        elif chart is not None and line.strip() == "```":
            result += [draw("\n".join(chart)), ""]
            chart = None
        elif chart is not None:
            chart.append(line)
        else:
            result.append(line)
    return "\n".join(result) + "\n"


def parse(chart: str) -> tuple[dict[str, str], list[Edge]]:
    """Return the words of the nodes by name, and the arrows.

    Examples
    --------
    >>> parse('flowchart LR\\n  a["one"] -- "or two" --> b')
    ({'a': 'one', 'b': 'b'}, [Edge(start='a', end='b', words='or two', dotted=False)])
    """
    first, *lines = chart.strip().splitlines()
    if first.strip() != "flowchart LR":
        raise NotDrawn(f"expected 'flowchart LR', got {first.strip()!r}")
    nodes: dict[str, str] = {}
    edges: list[Edge] = []
    for line in lines:
        position, before, arrow = 0, "", None
        while True:
            node = NODE.match(line, position)
            if node is None:
                raise NotDrawn(f"expected a node at {line[position:]!r}")
            if node["words"] or node["name"] not in nodes:
                nodes[node["name"]] = node["words"] or node["name"]
            if arrow:
                words = (arrow["solid"] or arrow["dotted"] or "").strip('"')
                edges.append(Edge(before, node["name"], words, arrow[0].startswith("-.")))
            before, position = node["name"], node.end()
            if position == len(line):
                break
            arrow = ARROW.match(line, position)
            if arrow is None:
                raise NotDrawn(f"expected an arrow at {line[position:]!r}")
            position = arrow.end()
    return nodes, edges


def layers_of(nodes: dict[str, str], edges: list[Edge]) -> dict[str, int]:
    """Return the layer of each node: below all that lead to it; a node that begins is just above where it leads."""
    layer = dict.fromkeys(nodes, 0)
    for _ in nodes:
        for edge in edges:
            layer[edge.end] = max(layer[edge.end], layer[edge.start] + 1)
    if max(layer.values()) >= len(nodes):
        raise NotDrawn("the arrows go in a circle")
    for name in set(nodes) - {edge.end for edge in edges}:
        layer[name] = min((layer[edge.end] for edge in edges if edge.start == name), default=1) - 1
    return layer


def arrange(
    nodes: dict[str, str], edges: list[Edge]
) -> tuple[dict[str, Spot], dict[Edge, list[str]], float, float]:
    """Return the spots of nodes and bends, the bends of each arrow, and the width and height of the drawing."""
    layer = layers_of(nodes, edges)
    rows: dict[int, list[str]] = defaultdict(list)
    for name in nodes:
        rows[layer[name]].append(name)
    bends: dict[Edge, list[str]] = {}
    for number, edge in enumerate(edges):
        bends[edge] = [f"{number}:{row}" for row in range(layer[edge.start] + 1, layer[edge.end])]
        for name, row in zip(bends[edge], range(layer[edge.start] + 1, layer[edge.end]), strict=True):
            rows[row].append(name)
    widths = {
        row: sum(BOX if name in nodes else DUMMY for name in names) + GAP * (len(names) - 1)
        for row, names in rows.items()
    }
    spots: dict[str, Spot] = {}
    y = 2.0
    for row in sorted(rows):
        x = (max(widths.values()) - widths[row]) / 2
        height = max(box_height(nodes[name]) for name in rows[row] if name in nodes)
        for name in rows[row]:
            width = BOX if name in nodes else DUMMY
            spots[name] = Spot(x + width / 2, y, box_height(nodes[name]) if name in nodes else height)
            x += width + GAP
        y += height + DROP
    return spots, bends, max(widths.values()), y - DROP + 2


def wrapped(words: str) -> list[str]:
    """Return the lines of a box."""
    return textwrap.wrap(words, CHARACTERS)


def box_height(words: str) -> float:
    """Return the height of a box."""
    return len(wrapped(words)) * LINE + 2 * PADDING - 4


def draw(chart: str) -> str:
    """Return a chart as SVG; its colours come from the style sheet of the site."""
    nodes, edges = parse(chart)
    spots, bends, width, height = arrange(nodes, edges)
    about = "; ".join(f"{nodes[edge.start]} leads to {nodes[edge.end]}" for edge in edges)
    lines = [
        f'<svg class="flowchart" viewBox="-2 0 {width + 4:.0f} {height:.0f}" width="{width + 4:.0f}" '
        f'role="img" aria-label="{html.escape(about)}" xmlns="http://www.w3.org/2000/svg">'
    ]
    for edge in edges:
        lines += draw_edge(edge, [spots[name] for name in (edge.start, *bends[edge], edge.end)])
    for name, words in nodes.items():
        lines += draw_box(words, spots[name])
    return "".join([*lines, "</svg>"])


def draw_edge(edge: Edge, spots: list[Spot]) -> Iterator[str]:
    """Yield the curve of an arrow, its head and its words."""
    path: list[str] = []
    last = spots[0]
    for spot in spots[1:]:
        begin, end = last.y + last.height, spot.y - (9 if spot is spots[-1] else 0)
        middle = (begin + end) / 2
        path.append(f"{'L' if path else 'M'}{last.x:.0f} {begin:.0f}")
        path.append(f"C{last.x:.0f} {middle:.0f} {spot.x:.0f} {middle:.0f} {spot.x:.0f} {end:.0f}")
        last = spot
    kind = "arrow dotted" if edge.dotted else "arrow"
    yield f'<path class="{kind}" d="{"".join(path)}"/>'
    yield f'<path class="head" d="M{last.x - 5:.0f} {last.y - 10:.0f}h10l-5 9z"/>'
    if edge.words:
        first, second = spots[0], spots[1]
        x, y = (first.x + second.x) / 2, (first.y + first.height + second.y) / 2 + 4
        yield f'<text class="beside" x="{x:.0f}" y="{y:.0f}">{html.escape(edge.words)}</text>'


def draw_box(words: str, spot: Spot) -> Iterator[str]:
    """Yield a box and its lines; the words before a colon, the place in the code, are set apart."""
    left = spot.x - BOX / 2
    yield f'<rect x="{left:.0f}" y="{spot.y:.0f}" width="{BOX}" height="{spot.height:.0f}" rx="8"/>'
    for number, line in enumerate(wrapped(words)):
        y = spot.y + PADDING + number * LINE + 10
        yield f'<text x="{spot.x:.0f}" y="{y:.0f}">{html.escape(line)}</text>'
