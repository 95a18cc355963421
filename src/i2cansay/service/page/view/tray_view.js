// The images that were shown, and the ways to order, pick and clear them.

import { recall, remember } from "../state/memory.js";
import { state, watch } from "../state/store.js";
import { tray, watchTray } from "../state/tray.js";
import { look } from "../work/look.js";
import { teachSure } from "../work/teach.js";
import { makeCard, showCard } from "./card.js";
import { at, button, counted, make, many } from "./element.js";
import { TAGS } from "./verdict.js";

const CARDS_FIT = 12;
/** @type {Map<object, HTMLElement>} */
const cards = new Map();
let small = false;
let chosen = recall("tiles", null);
/** The labels that images can be picked by, in the order of their options. */
let labels = [];

function showAll({ added, removed, changed, moved }) {
  const wanted = chosen ?? tray.all().length > CARDS_FIT;
  const resized = wanted !== small;
  small = wanted;
  const held = holder();
  removed.forEach((image) => {
    cards.get(image).remove();
    cards.delete(image);
  });
  if (added.length) {
    const fragment = document.createDocumentFragment();
    added.forEach((image) => {
      cards.set(image, makeCard(image, small));
      fragment.append(cards.get(image));
    });
    at("images").append(fragment);
  }
  (resized ? tray.all() : changed).forEach((image) => showCard(cards.get(image), image, small));
  if (moved) at("images").append(...tray.all().map((image) => cards.get(image)));
  at("images").classList.toggle("tiles", small);
  giveBack(held);
  showTools();
}

// Where the focus is, as an image and a place in its card, or null.
function holder() {
  const element = document.activeElement?.closest("#images > li");
  if (!element) return null;
  const index = [...at("images").children].indexOf(element);
  return { element, index, kind: document.activeElement.classList[0] };
}

// The focus stays on its card; where that is gone it goes to the one that took its place.
function giveBack(held) {
  if (!held || document.activeElement?.closest("#images > li")) return;
  const list = at("images").children;
  const element = held.element.isConnected ? held.element : list[Math.min(held.index, list.length - 1)];
  (element?.querySelector(`.${held.kind}`) ?? element?.querySelector(".pick") ?? at("choose")).focus();
}

function showTools() {
  const images = tray.all();
  at("tray").hidden = !images.length;
  at("tray-count").textContent = many(images.length);
  at("size").setAttribute("aria-pressed", String(small));
  at("order").value = tray.order();
  const sure = tray.where(({ prediction, stale }) => prediction?.verdict === "sure" && !stale).length;
  at("teach-sure").hidden = !sure;
  at("teach-sure").textContent = `Teach the ${sure} it is sure of`;
  const old = tray.where(({ stale }) => stale).length;
  at("stale").hidden = !wanting().length || Boolean(state.job);
  const unseen = wanting().length - old;
  const said = [old && `It has learnt since it looked at ${many(old)}.`, unseen && `It has not looked at ${many(unseen)} yet.`];
  at("stale-text").textContent = said.filter(Boolean).join(" ");
  at("look-again").textContent = old ? "Look again" : "Look at them";
  showPicks();
}

// Images whose answer is old, or that have none although the model could give one: the look was stopped.
function wanting() {
  return tray.where(({ stale, status }) => stale || (status === "unasked" && state.classes.length > 0));
}

// -- picking by what it says ------------------------------------------------------------------------------------

function showPicks() {
  const picked = tray.picked().length;
  const usable = tray.where(() => true);
  const verdicts = Object.keys(TAGS).map((verdict) => ({
    words: TAGS[verdict].name,
    images: usable.filter(({ prediction }) => prediction?.verdict === verdict),
  }));
  const lines = [{ words: "All", images: usable }, { words: "None", images: [] }, ...verdicts.filter(({ images }) => images.length)];
  const held = document.activeElement?.closest("#picks button")?.dataset.words;
  at("picks").replaceChildren(
    ...lines.map(({ words, images }) => {
      const chip = button(words, () => tray.pickOnly(images), { kind: "chip" });
      chip.dataset.words = words;
      if (words !== "None") chip.append(" ", make("span", "count", String(images.length)));
      const exactly = images.length === picked && images.every((image) => image.picked);
      chip.setAttribute("aria-pressed", String(exactly));
      return chip;
    }),
  );
  if (held) at("picks").querySelector(`[data-words="${held}"]`)?.focus();
  showClasses(usable);
}

function showClasses(usable) {
  const chosen = labels[Number(at("pick-class").value) - 1];
  const counts = counted(usable.filter(({ prediction }) => prediction).map(({ prediction }) => prediction.label));
  labels = Object.keys(counts).sort();
  const first = make("option", "", "By class…");
  first.value = "";
  const options = labels.map((label, index) => {
    const option = make("option", "", `${label} (${counts[label]})`);
    option.value = String(index + 1);
    return option;
  });
  at("pick-class").replaceChildren(first, ...options);
  // As long as exactly this class is picked, so that the arrow keys go on from it.
  const exactly = usable.every(({ picked, prediction }) => picked === (prediction?.label === chosen));
  at("pick-class").value = exactly && labels.includes(chosen) ? String(labels.indexOf(chosen) + 1) : "";
  at("pick-class").hidden = labels.length < 2;
}

export function showTray() {
  watchTray(showAll);
  watch(["classes", "job"], showTools);
  at("clear").addEventListener("click", () => {
    tray.remove(tray.all());
    at("choose").focus();
  });
  at("order").addEventListener("change", () => tray.arrange(at("order").value));
  at("size").addEventListener("click", () => {
    chosen = !small;
    remember("tiles", chosen);
    showAll({ added: [], removed: [], changed: [], moved: false });
  });
  at("teach-sure").addEventListener("click", teachSure);
  at("look-again").addEventListener("click", () => look(wanting()));
  at("pick-class").addEventListener("change", () => {
    const label = labels[Number(at("pick-class").value) - 1];
    if (label !== undefined) tray.pickOnly(tray.where(({ prediction }) => prediction?.label === label));
  });
}
