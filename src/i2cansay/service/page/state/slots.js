// Each class keeps its colour and its key, however many come and go beside it.

import { recall, remember } from "./memory.js";

export const COLOURS = 12;
export const KEYS = 9;

/** @type {Map<string, number>} */
let slots = new Map();
let owner = "";

/** Give every class of a model a slot; a new class takes the lowest free one, the oldest class first. */
export function arrange(model, classes) {
  if (model !== owner) {
    slots = new Map(recall(`slots-${model}`, []));
    owner = model;
  }
  const known = new Set(classes.map(({ label }) => label));
  [...slots.keys()].filter((label) => !known.has(label)).forEach((label) => slots.delete(label));
  [...classes]
    .sort((a, b) => a.first - b.first || (a.label < b.label ? -1 : 1))
    .filter(({ label }) => !slots.has(label))
    .sort((a, b) => Boolean(ownSlot(b.label)) - Boolean(ownSlot(a.label)))
    .forEach(({ label }) => slots.set(label, ownFree(label) ?? lowestFree()));
  remember(`slots-${model}`, [...slots]);
}

// A class that is called 1 to 9 has the key of its name, where that is free.
function ownSlot(label) {
  return /^[1-9]$/.test(label) ? Number(label) : 0;
}

function ownFree(label) {
  const slot = ownSlot(label) - 1;
  return slot < 0 || [...slots.values()].includes(slot) ? null : slot;
}

function lowestFree() {
  const taken = new Set(slots.values());
  let slot = 0;
  while (taken.has(slot)) slot += 1;
  return slot;
}

/** A renamed class stays where it is. */
export function renamed(label, newLabel) {
  if (!slots.has(label)) return;
  slots.set(newLabel, slots.get(label));
  slots.delete(label);
}

/** Give an element the colour of a class, as the custom property --slot. */
export function paint(element, label) {
  const slot = slots.get(label);
  element.style.setProperty("--slot", slot === undefined ? "var(--faint)" : `var(--class-${slot % COLOURS})`);
  return element;
}

/** The key that teaches a class, "1" to "9", or "". */
export function keyOf(label) {
  const slot = slots.get(label);
  return slot !== undefined && slot < KEYS ? String(slot + 1) : "";
}

/** The class that a key teaches, or undefined. */
export function labelOf(key) {
  return [...slots.keys()].find((label) => keyOf(label) === key);
}

/** Classes in the order of their slots. */
export function inOrder(classes) {
  const slot = ({ label }) => slots.get(label) ?? Infinity;
  return [...classes].sort((a, b) => slot(a) - slot(b));
}
