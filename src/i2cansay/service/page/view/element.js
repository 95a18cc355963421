// Elements and words of the page.

/** The element of an id. */
export const at = (id) => document.getElementById(id);

/** Make an element with a class and a text. */
export function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Make a button; `name` is what a screen reader says where the text alone would not do. */
export function button(text, act, { kind = "", name = "" } = {}) {
  const element = make("button", kind, text);
  element.type = "button";
  if (name) element.setAttribute("aria-label", name);
  element.addEventListener("click", act);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** Make a part of a drawing. */
export function draw(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  if (text !== undefined) element.textContent = text;
  return element;
}

const PLURALS = { class: "classes", "other class": "other classes" };

/** "1 image", "2 images". */
export function many(count, noun = "image") {
  return `${count} ${count === 1 ? noun : PLURALS[noun] ?? `${noun}s`}`;
}

export function percent(share) {
  return `${Math.round(100 * share)}%`;
}

export function capital(sentence) {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

/** "a, b and c". */
export function listed(words, link = "and") {
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} ${link} ${words.at(-1)}` : words.join("");
}

/** How often each label is there, as an object of counts. */
export function counted(labels) {
  const counts = new Map();
  labels.forEach((label) => counts.set(label, (counts.get(label) ?? 0) + 1));
  return Object.fromEntries(counts);
}

/** "dent (12) and scratch (8)", the most frequent first. */
export function tally(counts) {
  const lines = Object.entries(counts).sort((a, b) => b[1] - a[1]).map(([label, count]) => `${label} (${count})`);
  return listed(lines.length > 5 ? [...lines.slice(0, 4), many(lines.length - 4, "other class")] : lines);
}

/** How long ago, or how long from now, in words. */
export function ago(seconds) {
  const past = Date.now() / 1000 - seconds;
  const units = [["day", 86400], ["hour", 3600], ["minute", 60]];
  if (Math.abs(past) < 60) return past < 0 ? "in a minute" : "just now";
  const [unit, size] = units.find(([, length]) => Math.abs(past) >= length);
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-Math.trunc(past / size), unit);
}
