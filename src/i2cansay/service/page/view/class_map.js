// A map of the classes: those that lie close are easily mixed up.

import { paint } from "../state/slots.js";
import { state, watch } from "../state/store.js";
import { at, draw, make, many, percent } from "./element.js";

const WIDTH = 460;
const HEIGHT = 340;
const EDGE = 46;
const NAMED = 40;

function scaled(places) {
  const spread = (values, from, to) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return (value) => (high > low ? from + ((value - low) / (high - low)) * (to - from) : (from + to) / 2);
  };
  const x = spread(places.map((place) => place.x), EDGE, WIDTH - EDGE);
  const y = spread(places.map((place) => place.y), HEIGHT - 20, 26);
  return places.map((place) => ({ label: place.label, x: x(place.x), y: y(place.y) }));
}

function drawMap(place, { classes, closest }) {
  const places = scaled(classes);
  const found = new Map(places.map((each) => [each.label, each]));
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "Map of the classes. The list beside it names those that are closest." });
  closest.slice(0, 5).forEach(({ a, b }) => {
    const [from, to] = [found.get(a), found.get(b)];
    if (from && to) svg.append(draw("line", { class: "near", x1: from.x, y1: from.y, x2: to.x, y2: to.y }));
  });
  places.forEach(({ label, x, y }) => {
    const dot = paint(draw("circle", { class: "class", cx: x, cy: y, r: 8 }), label);
    dot.append(draw("title", {}, label));
    svg.append(dot);
  });
  // Names last, above the dots; one that would lie on another is left to the pointer and the list.
  const taken = [];
  places.slice(0, NAMED).forEach(({ label, x, y }) => {
    const half = Math.min(60, [...label].length * 3.6);
    const box = [x - half, y - 26, x + half, y - 10];
    if (taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) return;
    taken.push(box);
    svg.append(draw("text", { x, y: y - 13, "text-anchor": "middle" }, label));
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
