// Teach images, in parts, with progress.

import { Refusal, api, newKey } from "../state/api.js";
import { parts } from "../state/batches.js";
import { named } from "../state/files.js";
import { similar } from "../state/labels.js";
import { state, teachable } from "../state/store.js";
import { keepImages } from "../state/taught.js";
import { tray } from "../state/tray.js";
import { ask } from "../view/dialog.js";
import { at, capital, counted, listed, many, tally } from "../view/element.js";
import { complain, notice, startJob } from "../view/overlay.js";
import { attempt, fresh } from "./attempt.js";
import { stay } from "./forget.js";
import { lookAgain } from "./look.js";
import { refresh } from "./refresh.js";
import { takeBack } from "./take_back.js";

const MANY = 24;
let lessons = Promise.resolve(); // one after the other

/** Whether a lesson or a test is under way. Looking gives way to them. */
export function teaching() {
  return Boolean(state.job) && state.job.kind !== "look";
}

/**
 * Teach images with a label each; resolves to the number taught.
 * @param {{file: File, label: string, image?: object}[]} pairs `image` where it is in the tray, which it then leaves
 * @param {{comeBack?: boolean}} options whether the images come into the tray when the lesson is taken back
 */
export function teach(pairs, { comeBack = true } = {}) {
  const turn = lessons.then(() => teachNow(pairs, comeBack));
  lessons = turn.catch(() => {});
  return turn;
}

// What was taught or removed while this lesson waited for another is not taught again.
async function teachNow(asked, comeBack) {
  const pairs = asked.filter(({ image }) => !image || tray.all().includes(image));
  if (!pairs.length) return 0;
  if (teaching()) {
    notice(`${state.job.kind === "test" ? "A test" : "A change of lessons"} is under way. Teach when it has ended.`);
    return 0;
  }
  const { model } = state;
  const waiting = parts(pairs);
  const series = waiting.length > 1 ? newKey() : "";
  const kept = await stay(model, pairs.map(({ label }) => label));
  const lesson = { model, waiting, series, comeBack, kept, taught: [], unread: [], answers: [], job: null };
  await fresh(() => goOn(lesson, pairs.length));
  return lesson.taught.length;
}

async function goOn(lesson, total) {
  lesson.job = startJob("teach", "Teaching", total);
  try {
    while (lesson.waiting.length && !lesson.job.stopped()) {
      await teachPart(lesson);
      lesson.job.step(total - lesson.waiting.flat().length);
    }
  } finally {
    lesson.job.end();
    if (lesson.taught.length) await attempt(refresh);
  }
  finish(lesson);
}

async function teachPart(lesson) {
  const part = lesson.waiting[0];
  part.key ??= newKey(); // a part that is sent again after an outage counts once
  try {
    const [files, labels] = [part.map(({ file }) => file), part.map(({ label }) => label)];
    const answer = await api.learn(lesson.model, files, labels, part.key, lesson.series);
    lesson.answers.push({ ...answer, n: part.length });
    if (lesson.comeBack) keepImages(answer.lesson, part);
  } catch (error) {
    const bad = error.status === 422 && /^image (\d+): /.exec(error.message);
    if (!bad) throw error;
    // All or none: without the one that cannot be read, the others are taught.
    const [gone] = part.splice(Number(bad[1]) - 1, 1);
    lesson.unread.push(gone.file);
    if (gone.image) tray.set([gone.image], { status: "bad", problem: capital(error.message.replace(bad[0], "")), prediction: null });
    if (part.length) {
      delete part.key;
      return;
    }
  }
  lesson.waiting.shift();
  lesson.taught.push(...part);
  tray.remove(part.map(({ image }) => image).filter(Boolean));
}

function finish({ model, taught, unread, answers, waiting, kept }) {
  const left = waiting.flat().length;
  const stopped = left ? ` Stopped: ${many(left)} not taught.` : "";
  const stays = kept.length ? ` ${listed(kept)} ${kept.length === 1 ? "is" : "are"} not forgotten.` : "";
  if (unread.length) complain(new Refusal(0, "files", `could not be read: ${named(unread)}`));
  if (!taught.length) return notice(`Nothing was taught.${stopped}`);
  // Also after an outage, when who asked for the lesson waits no more.
  if (taught.some(({ image, label }) => image && label === at("label").value.trim())) {
    at("label").value = "";
    at("label").dispatchEvent(new Event("input"));
  }
  const counts = Object.assign({}, ...answers.map((answer) => answer.counts));
  const names = Object.keys(counts);
  const sentence = names.length === 1
    ? `Learnt ${many(taught.length)} of ${names[0]}, ${counts[names[0]]} in all.${waitingFor(answers.at(-1), counts[names[0]])}`
    : `Learnt ${many(taught.length)}: ${tally(counted(taught.map(({ label }) => label)))}.`;
  notice(sentence + stays + stopped, state.canUndo ? "Undo" : "", () => takeBack(model, answers.map(({ lesson, n }) => ({ id: lesson, n }))));
  lookAgain();
  return undefined;
}

function waitingFor({ durable }, count) {
  return durable ? "" : ` It is kept in memory only: ${missing(count)}.`;
}

/** What a class in memory needs to be saved. Copies of an image count once, so it may have enough and still wait. */
export function missing(count) {
  const more = state.minSamples - count;
  if (more === 1) return "one more image saves it";
  if (more > 1) return `${more} more images save it`;
  return `it needs ${state.minSamples} different images to be saved`;
}

/** Settle on a label: a new one that looks like a known one is asked about. Resolves to "" where the person leaves it. */
export async function settle(label) {
  const known = similar(label, teachable().map((each) => each.label));
  if (!known) return label;
  const said = await ask({
    title: `Is “${label}” the same as “${known}”?`,
    text: `It knows “${known}” already. Two names for one thing would be learnt as two classes.`,
    yes: `Teach as ${known}`,
    other: `${label} is new`,
  });
  if (!said) return "";
  return said.answer === "yes" ? known : label;
}

/** Teach images of the tray under one label; a large number is asked about. */
export async function teachShown(images, label) {
  const settled = await settle(label);
  if (!settled || !images.length) return 0;
  if (images.length > MANY) {
    const title = `Teach ${many(images.length)} as “${settled}”?`;
    if (!(await ask({ title, text: "All that are picked. You can take it back for a while.", yes: "Teach them" }))) return 0;
  }
  return teach(images.map((image) => ({ file: image.file, label: settled, image })));
}

/** Teach the images it is sure of, each as what it says. */
export async function teachSure() {
  const sure = tray.where(({ prediction, stale }) => prediction?.verdict === "sure" && !stale);
  if (!sure.length) return 0;
  const text = `As it says: ${tally(counted(sure.map(({ prediction }) => prediction.label)))}. `
    + "Of such answers at most 5 in 100 are wrong, as far as it has been tested. Have a look through them first.";
  if (!(await ask({ title: `Teach the ${many(sure.length)} it is sure of?`, text, yes: "Teach them" }))) return 0;
  return teach(sure.map((image) => ({ file: image.file, label: image.prediction.label, image })));
}
