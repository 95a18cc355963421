// Change one's mind about lessons: take them back, or move them to another class. Both may be for one class of them.

import { api } from "../state/api.js";
import { relabelImages, releaseImages } from "../state/taught.js";
import { state } from "../state/store.js";
import { tray } from "../state/tray.js";
import { many } from "../view/element.js";
import { notice, startJob } from "../view/overlay.js";
import { attempt, fresh } from "./attempt.js";
import { stay } from "./forget.js";
import { lookAgain } from "./look.js";
import { refresh } from "./refresh.js";

/** @typedef {{id: string, n: number}} Part a lesson, and how many of its images are concerned */

// One change after the other: a second press does not send the same again.
function busy() {
  if (!state.job || state.job.kind === "look") return false;
  notice("Something else is under way. When it has ended, Lessons has what can be changed.");
  return true;
}

/**
 * Take lessons back, the last one first, all of them or `only` one class. Images at hand come back into the tray.
 * @param {Part[]} lessons the oldest first
 */
export async function takeBack(model, lessons, only = null) {
  if (busy()) return;
  const run = { waiting: [...lessons], changed: 0, gone: 0 };
  const files = [];
  await fresh(async () => {
    let whole = false;
    try {
      await inTurn(run, "Taking back", async (lesson) => {
        await api.undo(model, lesson, only);
        files.push(...releaseImages(lesson, only));
      });
      whole = true;
    } finally {
      const back = tray.add(files.splice(0));
      if (!whole) tray.set(back, { status: "unasked" });
      else notice(outcome(run, "Taken back", "taken back") + inTray(back.length));
    }
    lookAgain();
  });
}

/**
 * Teach lessons, or `only` one class of them, under another label instead.
 * @param {Part[]} lessons the oldest first
 */
export async function moveLessons(lessons, label, only = null) {
  if (busy()) return;
  const { model } = state;
  const run = { waiting: [...lessons], changed: 0, gone: 0 };
  await fresh(async () => {
    await stay(model, [label]);
    await inTurn(run, "Moving", async (lesson) => {
      await api.move(model, lesson, label, only);
      relabelImages(only, label, lesson);
    });
    notice(outcome(run, `Moved to ${label}`, "moved"));
    lookAgain();
  });
}

// What is no longer in memory stays as it is, and the others are changed all the same.
async function inTurn(run, words, send) {
  const total = run.changed + run.gone + left(run);
  const job = startJob("teach", words, total);
  try {
    while (run.waiting.length && !job.stopped()) {
      const { id, n } = run.waiting.at(-1);
      try {
        await send(id);
        run.changed += n;
      } catch (error) {
        if (error.status !== 404) throw error;
        run.gone += n;
      }
      run.waiting.pop();
      job.step(total - left(run));
    }
  } finally {
    await attempt(refresh);
    job.end();
  }
}

function left({ waiting }) {
  return waiting.reduce((sum, { n }) => sum + n, 0);
}

function outcome(run, done, participle) {
  const stopped = left(run) ? ` Stopped: ${many(left(run))} not ${participle}.` : "";
  if (!run.gone && !stopped) return `${done}.`;
  const old = run.gone ? ` ${many(run.gone)} ${run.gone === 1 ? "is too old and stays" : "are too old and stay"}.` : "";
  return `${run.changed ? `${done}: ${many(run.changed)}.` : `Nothing was ${participle}.`}${old}${stopped}`;
}

function inTray(count) {
  return count ? ` ${many(count)} ${count === 1 ? "is" : "are"} in the tray again.` : "";
}
