// Accuracy over the stream, as a line.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 420;
const HEIGHT = 190;
const LEFT = 40;
const BOTTOM = 24;
const TOP = 10;

function part(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  if (text !== undefined) element.textContent = text;
  return element;
}

// Put neighbours together until each point stands for enough samples to mean something.
function gathered(points) {
  const total = points.reduce((sum, point) => sum + point.samples, 0);
  const enough = Math.max(5, total / 24);
  const result = [];
  let samples = 0;
  let correct = 0;
  let seen = 0;
  points.forEach((point, index) => {
    samples += point.samples;
    correct += point.correct;
    seen += point.samples;
    if (samples >= enough || index === points.length - 1) {
      result.push({ seen, share: correct / samples });
      samples = 0;
      correct = 0;
    }
  });
  return result;
}

export function percent(share) {
  return `${Math.round(100 * share)}%`;
}

export function drawAccuracy(place, accuracy) {
  const points = gathered(accuracy.points);
  const last = points.at(-1);
  const sentence = last
    ? `Right about ${accuracy.correct} of ${accuracy.samples} images so far; ${percent(last.share)} of the latest.`
    : "No image of a known class has been taught yet.";
  const svg = part("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": sentence });
  const y = (share) => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);
  const x = (seen) => LEFT + (seen / (accuracy.samples || 1)) * (WIDTH - LEFT - 8);
  [0, 0.5, 1].forEach((share) => {
    svg.append(part("line", { class: "grid", x1: LEFT, x2: WIDTH - 8, y1: y(share), y2: y(share) }));
    svg.append(part("text", { x: LEFT - 8, y: y(share) + 4, "text-anchor": "end" }, percent(share)));
  });
  if (last) {
    const corners = [[x(0), y(points[0].share)], ...points.map((point) => [x(point.seen), y(point.share)])];
    const line = corners.map(([across, down]) => `${across.toFixed(1)},${down.toFixed(1)}`).join(" L");
    svg.append(part("path", { class: "area", d: `M${x(0)},${y(0)} L${line} L${x(last.seen)},${y(0)} Z` }));
    svg.append(part("path", { class: "line", d: `M${line}` }));
    svg.append(part("circle", { class: "dot", cx: x(last.seen), cy: y(last.share), r: 4 }));
    svg.append(part("text", { x: WIDTH - 8, y: HEIGHT - 4, "text-anchor": "end" }, `${accuracy.samples} images`));
  } else {
    svg.append(part("text", { x: (WIDTH + LEFT) / 2, y: y(0.25) + 4, "text-anchor": "middle" }, "Nothing to show yet"));
  }
  place.replaceChildren(svg);
  return last ? percent(last.share) : "";
}
