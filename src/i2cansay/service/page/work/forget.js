// Forget a class, with a moment to change one's mind: nothing is sent until it is over.

import { api } from "../state/api.js";
import { recall, remember } from "../state/memory.js";
import { change, state } from "../state/store.js";
import { at, button, make, many } from "../view/element.js";
import { notice } from "../view/overlay.js";
import { attempt, fresh } from "./attempt.js";
import { lookAgain } from "./look.js";
import { refresh } from "./refresh.js";

export const MOMENT = 8000;
const PENDING = "forgetting";

function setLeaving(label, leaving) {
  const now = new Set(state.leaving);
  if (leaving) now.add(label);
  else now.delete(label);
  change({ leaving: now });
}

/** Forget a class after a moment, in which it can be kept. */
export function forget(label, count) {
  if (state.leaving.has(label)) return;
  const { model } = state;
  setLeaving(label, true);
  const line = make("p", "leaving");
  const clock = make("i", "clock");
  const end = () => {
    clearTimeout(timer);
    line.remove();
    setLeaving(label, false);
  };
  const timer = setTimeout(() => attempt(() => send(model, label)).finally(end), MOMENT);
  const keep = button("Keep it", () => {
    end();
    notice(`Kept ${label}.`);
  }, { name: `Keep it: ${label}` });
  line.append(make("span", "", `Forgetting ${label}, learnt from ${many(count)}…`), keep, clock);
  at("leaving").append(line);
}

async function send(model, label) {
  await api.forget(model, label);
  notice(`Forgot ${label}.`);
  if (model !== state.model) return;
  await refresh();
  lookAgain();
}

/** Say so when the page is left in that moment: before, and when it is opened again. */
export function guardForgetting() {
  addEventListener("beforeunload", (event) => {
    if (state.leaving.size) event.preventDefault();
  });
  addEventListener("pagehide", () => {
    if (state.leaving.size) remember(PENDING, { model: state.model, labels: [...state.leaving] });
  });
  const pending = recall(PENDING, null);
  remember(PENDING, null);
  const still = pending?.labels?.filter((label) => state.classes.some((each) => each.label === label)) ?? [];
  if (!still.length || pending.model !== state.model) return;
  const [label] = still;
  const text = `The page was left before ${label} was forgotten. It still knows it.`;
  notice(text, "Forget it now", () => fresh(() => send(pending.model, label)), 60000);
}
