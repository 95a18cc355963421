// A table of what was shown against what was said: the diagonal is right.

import { draw, make } from "./element.js";

const MOST = 16;
const CELL = 26;
const SIDE = 92;
const SLANT = 44; // room for the last name, which leans to the right

/** The labels worth a line: all, or those with the most mistakes. */
export function worthSeeing(counts, most = MOST) {
  const mistakes = new Map();
  counts.forEach(({ taught, predicted, n }) => {
    [taught, predicted].forEach((label) => mistakes.set(label, (mistakes.get(label) ?? 0) + (taught === predicted ? 0 : n)));
  });
  const labels = [...mistakes.keys()];
  if (labels.length <= most) return labels.sort();
  return labels.sort((a, b) => mistakes.get(b) - mistakes.get(a)).slice(0, most).sort();
}

function short(label) {
  const letters = [...label];
  return letters.length > 12 ? `${letters.slice(0, 11).join("")}…` : label;
}

export function drawConfusion(place, counts) {
  const labels = worthSeeing(counts);
  place.hidden = labels.length < 2;
  if (labels.length < 2) return;
  const size = SIDE + labels.length * CELL;
  const top = 16 + 5.2 * Math.max(...labels.map((label) => [...short(label)].length)); // the names lean
  const svg = draw("svg", { viewBox: `0 ${SIDE - top} ${size + SLANT} ${size - SIDE + top}`, role: "img", class: "matrix", "aria-label": "Table of what was shown against what was said. The list below has the same in words." });
  const totals = new Map(labels.map((label) => [label, counts.filter(({ taught }) => taught === label).reduce((sum, { n }) => sum + n, 0)]));
  labels.forEach((label, index) => {
    const middle = SIDE + index * CELL + CELL / 2;
    svg.append(draw("text", { x: SIDE - 6, y: middle + 4, "text-anchor": "end" }, short(label)));
    svg.append(draw("text", { x: middle, y: SIDE - 6, transform: `rotate(-55 ${middle} ${SIDE - 6})` }, short(label)));
    labels.forEach((_, other) => {
      svg.append(draw("rect", { class: "empty", x: SIDE + other * CELL + 1, y: SIDE + index * CELL + 1, width: CELL - 2, height: CELL - 2, rx: 4 }));
    });
  });
  counts.forEach(({ taught, predicted, n }) => {
    const [row, column] = [labels.indexOf(taught), labels.indexOf(predicted)];
    if (row < 0 || column < 0 || !n) return;
    const [x, y] = [SIDE + column * CELL, SIDE + row * CELL];
    const share = n / (totals.get(taught) || 1);
    const cell = draw("rect", { class: row === column ? "right" : "wrong", x: x + 1, y: y + 1, width: CELL - 2, height: CELL - 2, rx: 4, "fill-opacity": (0.15 + 0.85 * share).toFixed(2) });
    cell.append(draw("title", {}, `${taught} taken for ${predicted}: ${n}`));
    svg.append(cell, draw("text", { class: share > 0.5 ? "on" : "", x: x + CELL / 2, y: y + CELL / 2 + 4, "text-anchor": "middle" }, String(n)));
  });
  const all = new Set(counts.flatMap(({ taught, predicted }) => [taught, predicted])).size;
  const words = `Rows: what was shown. Columns: what it said.${all > labels.length ? ` The ${labels.length} classes with the most mistakes of ${all}.` : ""}`;
  svg.style.maxWidth = `${1.25 * (size + SLANT)}px`; // few classes need no large table
  place.replaceChildren(svg, make("p", "faint", words));
}
