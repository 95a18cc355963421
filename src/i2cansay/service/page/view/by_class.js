// Class by class: how often each is recognised, and which are mixed up, while it learnt or in a test.

import { paint } from "../state/slots.js";
import { state, watch } from "../state/store.js";
import { drawConfusion } from "./confusion.js";
import { interval } from "./curve.js";
import { at, make, many, percent } from "./element.js";

let source = "stream";

/** Counts of one class each, from pairs of taught and predicted label. */
export function perClass(pairs) {
  const lines = new Map();
  pairs.forEach(({ taught, predicted, count }) => {
    const line = lines.get(taught) ?? { label: taught, tested: 0, right: 0 };
    line.tested += count;
    if (taught === predicted) line.right += count;
    lines.set(taught, line);
  });
  return [...lines.values()].sort((a, b) => a.right / a.tested - b.right / b.tested || b.tested - a.tested);
}

/** The pairs that were mixed up, the most frequent first. */
export function mixedUp(pairs) {
  return pairs.filter(({ taught, predicted }) => taught !== predicted).sort((a, b) => b.count - a.count);
}

function classLine({ label, tested, right }) {
  const { low, high } = interval(right, tested);
  const line = paint(make("li"), label);
  const bar = make("div", "meter");
  const fill = make("i", "fill");
  const range = make("i", "range");
  fill.style.setProperty("--share", percent(right / tested));
  range.style.setProperty("--low", `${100 * low}%`);
  range.style.setProperty("--high", `${100 * high}%`);
  bar.append(fill, range);
  const figure = make("span", "percent", percent(right / tested));
  line.append(make("span", "name", label), figure, bar, make("span", "count", `${right} of ${tested}, likely ${percent(low)} to ${percent(high)}`));
  return line;
}

function mixedLine({ taught, predicted, count }) {
  const line = make("li");
  line.append(make("b", "", taught), " taken for ", make("b", "", predicted), " ", make("span", "count", many(count, "time")));
  return line;
}

function showClasses() {
  if (!state.test) source = "stream";
  const pairs = (source === "test" ? state.test?.pairs : state.confusion?.pairs) ?? [];
  at("sources").hidden = !state.test;
  ["stream", "test"].forEach((each) => at(`source-${each}`).setAttribute("aria-pressed", String(each === source)));
  at("by-class").replaceChildren(...perClass(pairs).map(classLine));
  at("mixed-up").replaceChildren(...mixedUp(pairs).slice(0, 8).map(mixedLine));
  drawConfusion(at("confusion"), pairs);
  at("by-class-words").textContent = words(pairs);
}

function words(pairs) {
  if (!pairs.length) return "Nothing to show yet. Teach each class twice: the second time, each image is predicted before it is learnt.";
  const range = "The thin line is where the true share likely lies, 95 times in 100: the more images, the shorter.";
  if (source === "test") return `From the last test. ${range}`;
  return `From images that were predicted just before they were learnt, early mistakes included. ${range}`;
}

export function showByClass() {
  ["stream", "test"].forEach((each) => {
    at(`source-${each}`).addEventListener("click", () => {
      source = each;
      showClasses();
    });
  });
  watch(["test"], () => {
    if (state.test) source = "test";
  });
  watch(["confusion", "test", "classes"], showClasses);
}
