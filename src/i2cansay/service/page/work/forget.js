// Forget a class, with a moment to change one's mind: nothing is sent until it is over.

import { api } from "../state/api.js";
import { recall, remember } from "../state/memory.js";
import { change, state, watch } from "../state/store.js";
import { at, button, make, many } from "../view/element.js";
import { notice } from "../view/overlay.js";
import { attempt, fresh } from "./attempt.js";
import { lookAgain } from "./look.js";
import { refresh } from "./refresh.js";

export const MOMENT = 8000;
const PENDING = "forgetting";
/** @type {{model: string, label: string, keep: (() => void) | null, over: Promise<void>}[]} keep: null once it is sent */
let leavers = [];

function tellLeaving() {
  change({ leaving: new Set(leavers.filter(({ model }) => model === state.model).map(({ label }) => label)) });
}

function leaver(model, label) {
  return leavers.find((each) => each.model === model && each.label === label);
}

/** Forget a class after a moment, in which it can be kept. */
export function forget(label, count) {
  const { model } = state;
  if (leaver(model, label)) return;
  let resolve;
  const over = new Promise((settled) => {
    resolve = settled;
  });
  const line = make("p", "leaving");
  const end = () => {
    clearTimeout(timer);
    line.remove();
    leavers = leavers.filter((each) => each !== mine);
    tellLeaving();
    resolve();
  };
  const mine = { model, label, keep: end, over };
  const timer = setTimeout(() => {
    mine.keep = null;
    keep.disabled = true;
    attempt(() => send(model, label, count)).finally(end);
  }, MOMENT);
  const held = at("classes").contains(document.activeElement);
  const keep = button("Keep it", () => {
    end();
    // When the cards are drawn again, the focus goes to where it came from.
    setTimeout(() => cardOf(label)?.querySelector(".acts button:last-child")?.focus());
    notice(`Kept ${label}.`);
  }, { name: `Keep it: ${label}` });
  line.append(make("span", "", `Forgetting ${label}, learnt from ${many(count)}…`), keep, make("i", "clock"));
  at("leaving").append(line);
  leavers.push(mine);
  tellLeaving();
  if (held) keep.focus();
}

function cardOf(label) {
  return [...at("classes").children].find((each) => each.dataset.label === label);
}

/**
 * Before classes are taught: one that is about to be forgotten stays, since whoever teaches it wants it. Where it is too
 * late for that, its end is waited for. Resolves to the labels that stay.
 */
export async function stay(model, labels) {
  const kept = [];
  for (const label of new Set(labels)) {
    const found = leaver(model, label);
    if (found?.keep) {
      found.keep();
      kept.push(label);
    } else await found?.over;
  }
  return kept;
}

async function send(model, label, count) {
  const found = (await api.classes(model)).find((each) => each.label === label);
  const taught = found && found.count > count;
  if (taught) notice(`${label} has been taught meanwhile, so it stays.`);
  else {
    await api.forget(model, label);
    notice(`Forgot ${label}.`);
  }
  if (model !== state.model) return;
  await refresh();
  lookAgain();
}

/** Say so when the page is left in that moment: before, and when it is opened again. */
export function guardForgetting() {
  watch(["model"], tellLeaving);
  addEventListener("beforeunload", (event) => {
    if (leavers.length) event.preventDefault();
  });
  addEventListener("pagehide", () => {
    if (state.leaving.size) remember(PENDING, { model: state.model, labels: [...state.leaving] });
  });
  const pending = recall(PENDING, null);
  remember(PENDING, null);
  const still = state.classes.filter(({ label }) => pending?.labels?.includes(label));
  if (!still.length || pending.model !== state.model) return;
  const [{ label, count }] = still;
  const text = `The page was left before ${label} was forgotten. It still knows it.`;
  notice(text, "Forget it now", () => fresh(() => send(pending.model, label, count)), 60000);
}
