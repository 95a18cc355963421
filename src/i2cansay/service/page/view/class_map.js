// A map of the classes: those that lie close are easily mixed up.

import { paint } from "../state/slots.js";
import { state, watch } from "../state/store.js";
import { at, draw, make, many, percent } from "./element.js";

const WIDTH = 460;
const TALLEST = 380;
const EDGE = 46;
const ABOVE = 30;
const BELOW = 30;
const NAMED = 40;

// Both directions have one scale, so that near is near; returns the places and the height they need.
function scaled(places) {
  const range = (values) => [Math.min(...values), Math.max(...values)];
  const [left, right] = range(places.map((place) => place.x));
  const [bottom, top] = range(places.map((place) => place.y));
  const scale = Math.min((WIDTH - 2 * EDGE) / (right - left || 1), (TALLEST - ABOVE - BELOW) / (top - bottom || 1));
  const middle = (WIDTH - scale * (right - left)) / 2;
  return {
    height: ABOVE + BELOW + scale * (top - bottom),
    places: places.map(({ label, x, y }) => ({ label, x: middle + scale * (x - left), y: ABOVE + scale * (top - y) })),
  };
}

// The places for a name of some width: above its dot, below, to the right, to the left.
function around(x, y, width) {
  const half = width / 2;
  return [
    { x, y: y - 13, anchor: "middle", box: [x - half, y - 26, x + half, y - 10] },
    { x, y: y + 23, anchor: "middle", box: [x - half, y + 10, x + half, y + 26] },
    { x: x + 13, y: y + 4, anchor: "start", box: [x + 12, y - 8, x + 14 + width, y + 8] },
    { x: x - 13, y: y + 4, anchor: "end", box: [x - 14 - width, y - 8, x - 12, y + 8] },
  ];
}

function drawMap(place, { classes, closest }) {
  const { places, height } = scaled(classes);
  const found = new Map(places.map((each) => [each.label, each]));
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${height.toFixed(0)}`, role: "img", "aria-label": "Map of the classes. The list beside it names those that are closest." });
  closest.slice(0, 5).forEach(({ a, b }) => {
    const [from, to] = [found.get(a), found.get(b)];
    if (from && to) svg.append(draw("line", { class: "near", x1: from.x, y1: from.y, x2: to.x, y2: to.y }));
  });
  places.forEach(({ label, x, y }) => {
    const dot = paint(draw("circle", { class: "class", cx: x, cy: y, r: 8 }), label);
    dot.append(draw("title", {}, label));
    svg.append(dot);
  });
  // Names last, around the dots; one that would lie on another is left to the pointer and the list.
  const taken = [];
  const free = (box) => box[0] >= 0 && box[2] <= WIDTH && !taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
  places.slice(0, NAMED).forEach(({ label, x, y }) => {
    const found = around(x, y, [...label].length * 7.4).find(({ box }) => free(box));
    if (!found) return;
    taken.push(found.box);
    svg.append(draw("text", { x: found.x, y: found.y, "text-anchor": found.anchor }, label));
  });
  place.replaceChildren(svg);
}

export function showMap() {
  watch(["map"], () => {
    const { map } = state;
    if (!map) return;
    const enough = map.classes.length > 1;
    at("map").hidden = !enough;
    if (enough) drawMap(at("map"), map);
    at("closest").replaceChildren(
      ...map.closest.slice(0, 5).map(({ a, b }) => {
        const line = make("li");
        line.append(make("b", "", a), " and ", make("b", "", b));
        return line;
      }),
    );
    const missing = map.left_out ? ` ${many(map.left_out, "class")} with fewer images are not on it.` : "";
    at("map-words").textContent = enough
      ? `Classes that lie close are easily mixed up: teach more images of them, or make them one. The picture shows ${percent(map.shown)} of the distances; the list has all of them.${missing}`
      : "It takes two classes to draw a map.";
  });
}
