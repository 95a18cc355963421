// What the page says about an image: its verdict in words, and the likeliest classes.

import { percent } from "./chart.js";
import { make, many } from "./element.js";

export function say(image, kind, sentence, tag) {
  image.element.className = `image ${kind}`;
  const parts = [make("p", "says", sentence)];
  if (tag) parts.unshift(make("span", "tag", tag));
  image.answer.replaceChildren(...parts);
}

// What a verdict says. The error rates are those of the service, 5 in 100; below 19 tests nothing can be said at that rate.
const MEANING = {
  sure: "Sure: at most 5 in 100 such answers are wrong, as far as this model has been tested.",
  unsure: "Not sure: more than 5 in 100 such answers may be wrong.",
  new: "Looks new: stranger than 95 in 100 images of what it knows.",
};
const ENOUGH_TESTS = 19;

function doubt({ top, set, set_size: possible }, tested) {
  if (possible === 1 || top.length === 1 || tested < ENOUGH_TESTS) return `${top[0].label}?`;
  const named = possible <= 3 ? set : top.slice(0, 2).map((guess) => guess.label);
  return `${named.slice(0, -1).join(", ")} or ${named.at(-1)}?`;
}

function meaning(verdict, tested) {
  if (verdict !== "unsure" || tested >= ENOUGH_TESTS) return MEANING[verdict];
  return `Not sure yet: it has been tested on ${many(tested)}, and it takes ${ENOUGH_TESTS}.`;
}

export function answer(image, prediction, tested) {
  const { top, verdict } = prediction;
  const sentences = {
    sure: [top[0].label, "Sure"],
    unsure: [doubt(prediction, tested), "Not sure"],
    new: [`Nearest is ${top[0].label}`, "Looks new"],
  };
  say(image, verdict, ...sentences[verdict]);
  image.answer.append(make("p", "meaning", meaning(verdict, tested)));
  const bars = make("ul", "bars");
  bars.setAttribute("aria-label", "Likeliest classes");
  prediction.top.forEach((guess) => {
    const line = make("li");
    const bar = make("span", "bar");
    bar.setAttribute("aria-hidden", "true");
    const fill = make("i");
    fill.style.setProperty("--share", percent(guess.probability));
    bar.append(fill);
    line.append(make("span", "name", guess.label), make("span", "percent", percent(guess.probability)), bar);
    bars.append(line);
  });
  image.answer.append(bars);
}
