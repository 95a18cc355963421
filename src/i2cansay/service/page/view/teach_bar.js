// The bar that stays in sight: a class by button, by key or by name, and the images it is for.

import { recall, remember } from "../state/memory.js";
import { inOrder, keyOf, labelOf, paint } from "../state/slots.js";
import { teachable, watch } from "../state/store.js";
import { tray, watchTray } from "../state/tray.js";
import { teachShown, teaching } from "../work/teach.js";
import { at, button, make, many } from "./element.js";

const MOST = 30;

function showButton() {
  const label = at("label").value.trim();
  const count = tray.picked().length;
  at("teach-button").disabled = count === 0 || teaching();
  at("teach-button").textContent = `Teach ${many(count)}${label ? ` as “${label}”` : ""}`;
}

function showClasses() {
  const held = document.activeElement?.closest("#known button")?.dataset.label;
  const classes = inOrder(teachable());
  at("labels").replaceChildren(...classes.map(({ label }) => Object.assign(make("option"), { value: label })));
  at("known").replaceChildren(...classes.slice(0, MOST).map(({ label }) => classButton(label)));
  if (held !== undefined) [...at("known").children].find((each) => each.dataset.label === held)?.focus();
  showButton();
}

function classButton(label) {
  const element = paint(button("", () => teachShown(tray.picked(), label), { kind: "chip class" }), label);
  element.dataset.label = label;
  const name = make("span", "name", label);
  name.prepend(make("span", "hidden", "Teach as "));
  element.append(make("i", "spot"), name);
  const key = keyOf(label);
  if (key) {
    const shown = make("kbd", "", key);
    shown.setAttribute("aria-hidden", "true");
    element.append(shown);
    element.setAttribute("aria-keyshortcuts", key);
  }
  return element;
}

async function submit(event) {
  event.preventDefault();
  const label = at("label").value.trim();
  if (!label) return sayBlank(true);
  const images = tray.picked();
  const taught = await teachShown(images, label);
  if (taught && at("label").value.trim() === label) at("label").value = "";
  showButton();
  // The next name can be typed at once; where nothing is left to name, the next images can be chosen.
  (tray.all().length ? at("label") : at("choose")).focus();
  return undefined;
}

function sayBlank(blank) {
  at("label").setAttribute("aria-invalid", String(blank));
  at("label-problem").textContent = blank ? "Give it a name first: what do these images show?" : "";
  if (blank) at("label").focus();
}

// A key teaches the image that the keyboard has brought the focus to, else all that are picked: a click picks.
function onKey(event) {
  if (!at("keys").checked || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (document.querySelector("dialog[open]") || event.target.closest?.("input:not([type=checkbox]), select, textarea, summary")) return;
  if (at("view-teach").hidden || at("tray").hidden) return;
  const label = labelOf(event.key);
  if (label === undefined || !teachable().some((each) => each.label === label)) return;
  event.preventDefault();
  const number = Number(event.target.closest?.("#images > li:has(:focus-visible)")?.dataset.number);
  const focused = tray.where((image) => image.number === number);
  teachShown(focused.length ? focused : tray.picked(), label);
}

export function showTeachBar() {
  watch(["classes", "leaving", "job"], showClasses);
  watchTray(({ added, removed }) => {
    if (added.length || removed.length) sayBlank(false); // taught by a button, or other images
    showButton();
  });
  at("teach").addEventListener("submit", submit);
  at("label").addEventListener("input", () => {
    sayBlank(false);
    showButton();
  });
  at("keys").checked = recall("keys", true);
  at("keys").addEventListener("change", () => remember("keys", at("keys").checked));
  document.addEventListener("keydown", onKey);
}
