// What the page says about an image: its verdict in words, with the error rate it is given for.

import { listed, many } from "./element.js";

// The error rates are those of the service, 5 in 100; below 19 tests nothing can be said at that rate.
const MEANING = {
  sure: "At most 5 in 100 such answers are wrong, as far as this model has been tested.",
  unsure: "More than 5 in 100 such answers may be wrong.",
  new: "Stranger than 95 in 100 images of what it knows.",
};
const ENOUGH_TESTS = 19;

/** A short name and a sign for each verdict: colour alone would not do. */
export const TAGS = {
  sure: { name: "Sure", sign: "✓" },
  unsure: { name: "Not sure", sign: "?" },
  new: { name: "Looks new", sign: "✦" },
};

/** What it takes an image for, in a few words. */
export function guess({ top, verdict, set, set_size: possible }, tested) {
  if (verdict === "sure") return top[0].label;
  if (verdict === "new") return `Nearest is ${top[0].label}`;
  if (possible === 1 || top.length === 1 || tested < ENOUGH_TESTS) return `${top[0].label}?`;
  return `${listed(possible <= 3 ? set : top.slice(0, 2).map(({ label }) => label), "or")}?`;
}

/** What its verdict promises. */
export function meaning({ verdict, top }, tested) {
  if (verdict === "unsure" && top.length === 1) return "It knows one class, so it has nothing to compare this with.";
  if (verdict !== "unsure" || tested >= ENOUGH_TESTS) return MEANING[verdict];
  return `It has been tested on ${many(tested)}, and it takes ${ENOUGH_TESTS} to be sure.`;
}
