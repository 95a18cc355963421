// Read what the model knows, now and whenever somebody else has taught it.

import { api } from "../state/api.js";
import { arrange } from "../state/slots.js";
import { change, state } from "../state/store.js";
import { hush, notice } from "../view/overlay.js";
import { at } from "../view/element.js";
import { lookAgain, lookAtTheRest } from "./look.js";

const EVERY = 3000;

/** Read the classes and how often the model was right. */
export async function refresh() {
  const { model } = state;
  const [facts, classes, accuracy] = await Promise.all([api.describe(model), api.classes(model), api.accuracy(model)]);
  if (model !== state.model) return;
  arrange(model, classes);
  change({ classes, accuracy, version: facts.version, canUndo: facts.can_undo, confusion: null, map: null, lessons: null });
}

async function poll() {
  const { model, reachable, job } = state;
  if (!model || document.hidden || job) return;
  const facts = await api.describe(model).catch(() => null);
  if (!facts || model !== state.model || state.job) return;
  if (!reachable) {
    if (at("trouble").dataset.code === "lost") hush();
    notice("The service is back.");
    await lookAtTheRest();
  }
  if (facts.version === state.version) return;
  await refresh().catch(() => undefined);
  await lookAgain();
}

/** Two tabs agree: ask for the version now and then, while the page is in sight. */
export function keepUp() {
  const turn = async () => {
    await poll();
    setTimeout(turn, EVERY);
  };
  setTimeout(turn, EVERY);
  document.addEventListener("visibilitychange", () => !document.hidden && poll());
}
