"""The plotting area of a chart: its size, its scales, its axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 380, 260
LEFT, RIGHT, TOP, BOTTOM = 42, 12, 10, 40


@dataclass(frozen=True)
class Frame:
    """The plotting area and its scales."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float

    def x(self, value: float) -> float:
        """Return where a value lies across the picture."""
        share = (value - self.x_low) / (self.x_high - self.x_low or 1)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Return where a value lies down the picture."""
        share = (value - self.y_low) / (self.y_high - self.y_low or 1)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def points(self, values: Sequence[tuple[float, float]]) -> str:
        """Return the corners of a line as SVG wants them."""
        # A band may reach past the axis; what is outside is cut.
        inside = [(x, min(max(y, self.y_low), self.y_high)) for x, y in values]
        return " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in inside)

    def axes(
        self,
        x_label: str,
        y_label: str,
        names: Sequence[str],
        ticks: Sequence[tuple[float, str]] | None = None,
    ) -> str:
        """Return grid lines, ticks and the names of the axes."""
        parts = []
        step = _nice_step(self.y_high - self.y_low)
        value = math.ceil(self.y_low / step) * step
        while value <= self.y_high + 1e-9:
            y = self.y(value)
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(
                f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>'
            )
            value += step
        if ticks is None:
            ticks = list(enumerate(names)) if names else _round_ticks(self.x_low, self.x_high)
        for x, name in ticks:
            at = f'x="{self.x(x):.1f}" y="{HEIGHT - 24}" text-anchor="middle"'
            parts.append(f'<text class="tick" {at}>{escape(name)}</text>')
        parts.append(axis_labels(x_label, y_label))
        return "".join(parts)


def axis_labels(x_label: str, y_label: str) -> str:
    """Return the names of both axes."""
    middle = TOP + (HEIGHT - TOP - BOTTOM) / 2
    below = f'x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle"'
    beside = f'x="11" y="{middle}" text-anchor="middle" transform="rotate(-90 11 {middle})"'
    names = ((below, x_label), (beside, y_label))
    return "".join(f'<text class="label" {place}>{escape(name)}</text>' for place, name in names)


def svg(parts: Sequence[str], label: str, *, height: int = HEIGHT) -> str:
    """Return the parts as one picture that takes the width it is given."""
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def extent(values: Sequence[float]) -> tuple[float, float]:
    """Return the least and the largest value, apart even where they are equal."""
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def percent_extent(values: Sequence[float]) -> tuple[float, float]:
    """Return limits for percentages: from zero unless all of them lie close together."""
    low, high = min(values), max(values)
    if high - low > 25:
        return 0.0, min(100.0, 10 * math.ceil((high + 2) / 10))
    margin = max(1.0, 0.15 * (high - low))
    return max(0.0, math.floor(low - margin)), min(100.0, math.ceil(high + margin))


def _nice_step(length: float) -> float:
    raw = length / 5
    power = 10 ** math.floor(math.log10(raw)) if raw > 0 else 1.0
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw)


def _round_ticks(low: float, high: float) -> list[tuple[float, str]]:
    step = _nice_step(high - low)
    first = math.ceil(low / step)
    return [
        (k * step, f"{k * step:,g}".replace(",000", "k")) for k in range(first, math.floor(high / step) + 1)
    ]


def log_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return ticks for a logarithmic axis from 10^low to 10^high: powers of ten, and steps between if they are few.

    >>> log_ticks(3.9, 6.1)
    [(4.0, '10k'), (5.0, '100k'), (6.0, '1M')]
    >>> [name for _, name in log_ticks(-0.2, 0.8)]
    ['1', '2', '5']
    """
    factors = (1,) if high - low > 2 else (1, 2, 5)
    powers = range(math.floor(low), math.ceil(high) + 1)
    values = [factor * 10.0**power for power in powers for factor in factors]
    return [(math.log10(value), _amount(value)) for value in values if low <= math.log10(value) <= high]


def _amount(value: float) -> str:
    return f"{value:g}" if value < 1000 else f"{value / 1000:g}k" if value < 1e6 else f"{value / 1e6:g}M"
