// Accuracy over the stream, as a smoothed line with the interval it lies in.

import { state, watch } from "../state/store.js";
import { at, draw, many, percent } from "./element.js";

const WIDTH = 420;
const HEIGHT = 180;
const LEFT = 40;
const RIGHT = 10;
const BOTTOM = 24;
const TOP = 10;

function path(corners) {
  return corners.map(([across, down]) => `${across.toFixed(1)},${down.toFixed(1)}`).join(" L");
}

/** Draw the curve; returns what it says last, or null. */
export function drawAccuracy(place, accuracy) {
  let seen = 0;
  const points = accuracy.points.map(({ samples, smoothed: share, low, high }) => {
    seen += samples;
    return { seen, share, low, high };
  });
  const last = points.at(-1) ?? null;
  const label = last ? sentence(accuracy, last) : "No image of a known class has been taught yet.";
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  const y = (share) => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);
  const x = (seen) => LEFT + (seen / (accuracy.samples || 1)) * (WIDTH - LEFT - RIGHT);
  [0, 0.5, 1].forEach((share) => {
    svg.append(draw("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(share), y2: y(share) }));
    svg.append(draw("text", { x: LEFT - 8, y: y(share) + 4, "text-anchor": "end" }, percent(share)));
  });
  if (last) {
    const upper = points.map(({ seen, high }) => [x(seen), y(high)]);
    const lower = points.map(({ seen, low }) => [x(seen), y(low)]).reverse();
    svg.append(draw("path", { class: "band", d: `M${path([...upper, ...lower])} Z` }));
    svg.append(draw("path", { class: "line", d: `M${path(points.map(({ seen, share }) => [x(seen), y(share)]))}` }));
    svg.append(draw("circle", { class: "dot", cx: x(last.seen), cy: y(last.share), r: 4 }));
    svg.append(draw("text", { x: WIDTH - RIGHT, y: HEIGHT - 4, "text-anchor": "end" }, many(accuracy.samples)));
  } else {
    svg.append(draw("text", { x: (WIDTH + LEFT) / 2, y: y(0.25) + 4, "text-anchor": "middle" }, "Nothing to show yet"));
  }
  place.replaceChildren(svg);
  return last;
}

function sentence({ correct, samples }, { share, low, high }) {
  return `Lately about ${percent(share)}, likely between ${percent(low)} and ${percent(high)}. Right about ${correct} of ${samples} so far.`;
}

const PLACES = [["chart", "recent", "right-words"], ["curve", "curve-figure", "curve-words"]];

export function showAccuracy() {
  watch(["accuracy"], () => {
    const { accuracy } = state;
    if (!accuracy) return;
    PLACES.forEach(([chart, figure, words]) => {
      const last = drawAccuracy(at(chart), accuracy);
      at(figure).textContent = last ? percent(last.share) : "";
      at(words).textContent = last
        ? `${sentence(accuracy, last)} Each image of a known class is predicted before it is learnt. Lessons taken back since are counted too.`
        : "Each image of a known class is predicted first and learnt afterwards. The curve begins with the second lesson of a class.";
    });
  });
}
