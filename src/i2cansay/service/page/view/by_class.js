// Class by class: how often each is recognised, and which are mixed up, while it learnt or in a test.

import { interval } from "../state/interval.js";
import { paint } from "../state/slots.js";
import { state, watch } from "../state/store.js";
import { drawConfusion } from "./confusion.js";
import { at, make, many, percent } from "./element.js";

let source = "stream";

/** The classes that need most care first. */
function worstFirst(classes) {
  return classes.filter(({ tested }) => tested).sort((a, b) => a.right / a.tested - b.right / b.tested || b.tested - a.tested);
}

/** The pairs that were mixed up, the most frequent first. */
function mixedUp(counts) {
  return counts.filter(({ taught, predicted }) => taught !== predicted).sort((a, b) => b.n - a.n);
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

function mixedLine({ taught, predicted, n }) {
  const line = make("li");
  line.append(make("b", "", taught), " taken for ", make("b", "", predicted), " ", make("span", "count", many(n, "time")));
  return line;
}

function showClasses() {
  if (!state.test) source = "stream";
  const { counts, classes } = (source === "test" ? state.test : state.confusion) ?? { counts: [], classes: [] };
  at("sources").hidden = !state.test;
  ["stream", "test"].forEach((each) => at(`source-${each}`).setAttribute("aria-pressed", String(each === source)));
  at("by-class").replaceChildren(...worstFirst(classes).map(classLine));
  at("mixed-up").replaceChildren(...mixedUp(counts).slice(0, 8).map(mixedLine));
  drawConfusion(at("confusion"), counts);
  at("by-class-words").textContent = words(classes);
}

function words(classes) {
  if (!classes.length) return "Nothing to show yet. Teach each class twice: the second time, each image is predicted before it is learnt.";
  const range = "The thin line is where the true share likely lies, 95 times in 100: the more images, the shorter.";
  if (source === "test") return `From the last test. ${range}`;
  return `From images that were predicted just before they were learnt, early mistakes included. Lessons taken back since are left out here, and counted in “Over time”. ${range}`;
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
