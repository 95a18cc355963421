// The camera: what the model sees right now, and a button for each class to hold while it is in sight.

import { Refusal, api } from "../state/api.js";
import { cameraIsPossible, cameraProblem, cameras, frame, openCamera } from "../state/frames.js";
import { inOrder, paint } from "../state/slots.js";
import { state, teachable, watch } from "../state/store.js";
import { settle, teach, teaching } from "../work/teach.js";
import { at, button, make, many, percent } from "./element.js";
import { complain } from "./overlay.js";
import { show } from "./ways_in.js";
import { TAGS, guess } from "./verdict.js";

const FRAME_EVERY = 180; // milliseconds while a button is held
const LOOK_EVERY = 400; // between an answer and the next question
const MOST = 60; // frames of one hold
let close = null;
let recording = null;
/** The camera that was open when the view was left, to be opened again; null for none. */
let paused = null;

async function open(deviceId = "") {
  close?.();
  close = null;
  try {
    close = await openCamera(at("video"), deviceId);
  } catch (error) {
    at("camera").hidden = true;
    at("camera-open").setAttribute("aria-expanded", "false");
    complain(new Refusal(0, "camera", cameraProblem(error)), () => open());
    return;
  }
  at("camera").hidden = false;
  at("camera-open").setAttribute("aria-expanded", "true");
  const found = await cameras();
  at("camera-choice").hidden = found.length < 2;
  at("camera-choice").replaceChildren(
    ...found.map(({ deviceId: id, label }, index) => Object.assign(make("option", "", label || `Camera ${index + 1}`), { value: id })),
  );
  if (deviceId) at("camera-choice").value = deviceId;
  watchLive(close);
  followView(); // it may have been left meanwhile
}

function shut() {
  close?.();
  close = null;
  at("camera").hidden = true;
  at("camera-open").setAttribute("aria-expanded", "false");
  at("camera-open").focus();
}

// Nobody sees the camera in another view, so it sees nobody.
function followView() {
  const seen = state.view === "teach";
  if (!seen && close) {
    release();
    paused = at("camera-choice").value;
    close();
    close = null;
  } else if (seen && paused !== null) {
    open(paused);
    paused = null;
  }
}

// -- live prediction ----------------------------------------------------------------------------------------------

async function watchLive(mine) {
  while (close === mine) {
    if (!recording && !teaching() && !document.hidden) await askOnce();
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
  }
}

async function askOnce() {
  if (!state.classes.length) {
    sayLive("", "Hold a button while it is in sight. It learns from what it sees.", []);
    return;
  }
  try {
    const { predictions: [prediction], tested } = await api.predict(state.model, [await frame(at("video"))]);
    sayLive(prediction.verdict, guess(prediction, tested), prediction.top);
  } catch (error) {
    sayLive("", error.message, []);
  }
}

function sayLive(verdict, sentence, top) {
  at("live").className = verdict;
  at("live-tag").textContent = verdict ? TAGS[verdict].name : "";
  at("live-tag").hidden = !verdict;
  at("live-says").textContent = sentence;
  at("live-bars").replaceChildren(
    ...top.map(({ label, probability }) => {
      const line = paint(make("li"), label);
      const bar = make("i");
      bar.style.setProperty("--share", percent(probability));
      line.append(make("span", "name", label), make("span", "percent", percent(probability)), bar);
      return line;
    }),
  );
}

// -- hold to record ---------------------------------------------------------------------------------------------------

async function record(holder, labelOf, ready) {
  if (recording || teaching() || !close || !ready()) return;
  const mine = { files: [], held: true };
  recording = mine;
  holder.classList.add("recording");
  const words = holder.querySelector(".count");
  while (mine.held && close && mine.files.length < MOST) {
    mine.files.push(await frame(at("video")));
    words.textContent = many(mine.files.length);
    await new Promise((resolve) => setTimeout(resolve, FRAME_EVERY));
  }
  holder.classList.remove("recording");
  words.textContent = "";
  recording = null;
  const label = await labelOf();
  if (label) await teach(mine.files.map((file) => ({ file, label })));
}

const release = () => {
  if (recording) recording.held = false;
};

// By finger or mouse, and by Space or Enter held down.
function holdable(element, labelOf, ready = () => true) {
  element.addEventListener("pointerdown", (event) => {
    if (event.button === 0) record(element, labelOf, ready);
  });
  element.addEventListener("contextmenu", (event) => event.preventDefault());
  element.addEventListener("keydown", (event) => {
    if (![" ", "Enter"].includes(event.key)) return;
    event.preventDefault();
    if (!event.repeat) record(element, labelOf, ready);
  });
  element.addEventListener("blur", release);
}

function showHolds() {
  if (recording) return;
  const held = document.activeElement?.closest("#holds button")?.dataset.label;
  const buttons = inOrder(teachable()).map(({ label }) => {
    const element = paint(button("", () => undefined, { kind: "hold" }), label);
    element.dataset.label = label;
    element.append(make("i", "spot"), make("span", "", `Hold for ${label}`), make("span", "count"));
    holdable(element, () => label);
    return element;
  });
  at("holds").replaceChildren(...buttons);
  if (held !== undefined) buttons.find((each) => each.dataset.label === held)?.focus();
}

// Before anything is recorded, so that no images are lost for want of a name.
function hasName() {
  const blank = !at("hold-label").value.trim();
  at("hold-problem").textContent = blank ? "Give it a name first." : "";
  if (blank) setTimeout(() => at("hold-label").focus()); // after the press has given the focus to the button
  return !blank;
}

async function newLabel() {
  const settled = await settle(at("hold-label").value.trim());
  if (settled) at("hold-label").value = "";
  return settled;
}

export function showCamera() {
  document.documentElement.classList.toggle("no-camera", !cameraIsPossible());
  at("camera-open").addEventListener("click", () => (close ? shut() : open()));
  at("camera-close").addEventListener("click", shut);
  at("camera-choice").addEventListener("change", () => open(at("camera-choice").value));
  at("camera-shot").addEventListener("click", async () => show([await frame(at("video"))]));
  at("hold-label").addEventListener("input", () => { at("hold-problem").textContent = ""; });
  holdable(at("hold-new"), newLabel, hasName);
  ["pointerup", "pointercancel", "keyup"].forEach((kind) => addEventListener(kind, release));
  addEventListener("pagehide", () => close?.());
  watch(["classes", "leaving"], showHolds);
  watch(["view"], followView);
}
