// Read what the model knows, now and whenever somebody else has taught it.

import { api } from "../state/api.js";
import { arrange } from "../state/slots.js";
import { change, state } from "../state/store.js";
import { notice, tryAgain } from "../view/overlay.js";
import { at } from "../view/element.js";
import { lookAgain, lookAtTheRest } from "./look.js";

const EVERY = 3000;

/** Read the classes and how often the model was right. */
export async function refresh() {
  const { model } = state;
  const [facts, classes, accuracy] = await Promise.all([api.describe(model), api.classes(model), api.accuracy(model)]);
  if (model !== state.model) return;
  arrange(model, classes);
  change({ classes, accuracy, revision: facts.revision, canUndo: facts.can_undo, confusion: null, map: null, lessons: null });
}

async function poll() {
  const { model, reachable, job } = state;
  if (!model || document.hidden || job) return;
  const unchanged = await api.unchanged(model, state.revision).catch(() => null);
  if (unchanged === null || model !== state.model || state.job) return;
  if (!reachable) {
    notice("The service is back.");
    if (at("trouble").dataset.code === "lost") await tryAgain();
    await lookAtTheRest();
  }
  if (unchanged) return;
  await refresh().catch(() => undefined);
  await lookAgain();
}

/** Two tabs agree: ask now and then whether the model has changed, while the page is in sight. */
export function keepUp() {
  const turn = async () => {
    await poll();
    setTimeout(turn, EVERY);
  };
  setTimeout(turn, EVERY);
  document.addEventListener("visibilitychange", () => !document.hidden && poll());
}
