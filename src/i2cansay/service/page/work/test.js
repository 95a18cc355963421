// Test the model on images whose labels are known. Nothing is learnt.

import { Refusal, api } from "../state/api.js";
import { parts } from "../state/batches.js";
import { named } from "../state/files.js";
import { change, state } from "../state/store.js";
import { complain, notice, startJob } from "../view/overlay.js";
import { fresh } from "./attempt.js";
import { teaching } from "./teach.js";

/** Predict images of known labels and keep the result for the view; resolves when it is there. */
export async function test(pairs) {
  if (!pairs.length) return;
  if (teaching()) {
    notice("A lesson is under way. Test when it has ended.");
    return;
  }
  const run = { model: state.model, waiting: parts(pairs), answers: [], unread: [] };
  await fresh(() => goOn(run, pairs.length));
}

async function goOn(run, total) {
  const job = startJob("test", "Testing, nothing is learnt", total);
  try {
    while (run.waiting.length && !job.stopped()) {
      await testPart(run);
      job.step(total - run.waiting.flat().length);
    }
  } finally {
    job.end();
  }
  if (run.unread.length) complain(new Refusal(0, "files", `could not be read: ${named(run.unread)}`));
  if (run.model === state.model) change({ test: summary(run), view: "check" });
}

async function testPart(run) {
  const part = run.waiting[0];
  try {
    const { predictions } = await api.test(run.model, part.map(({ file }) => file), part.map(({ label }) => label));
    run.answers.push(...part.map(({ file }, index) => ({ file, ...predictions[index] })));
    run.waiting.shift();
  } catch (error) {
    const bad = error.status === 422 && /^image (\d+): /.exec(error.message);
    if (!bad) throw error;
    run.unread.push(part.splice(Number(bad[1]) - 1, 1)[0].file);
    if (!part.length) run.waiting.shift();
  }
}

/**
 * Count the answers of a test: as the service counts its own tests, and how the verdicts did. Images of classes that the
 * model was never taught are counted apart: it can only be asked to find them new.
 */
export function summary({ answers, waiting }) {
  const known = new Set(state.classes.map(({ label }) => label));
  const fair = answers.filter(({ label }) => known.has(label));
  const strange = answers.filter(({ label }) => !known.has(label));
  const tally = new Map();
  const verdicts = { sure: [0, 0], unsure: [0, 0], new: [0, 0] };
  fair.forEach(({ label, predicted, verdict, right }) => {
    const key = JSON.stringify([label, predicted]);
    tally.set(key, (tally.get(key) ?? 0) + 1);
    verdicts[verdict][0] += 1;
    verdicts[verdict][1] += right;
  });
  const counts = [...tally].map(([key, n]) => {
    const [taught, predicted] = JSON.parse(key);
    return { taught, predicted, n };
  });
  const classes = [...new Set(fair.map(({ label }) => label))].map((label) => {
    const mine = fair.filter((each) => each.label === label);
    return { label, tested: mine.length, right: mine.filter(({ right }) => right).length };
  });
  return {
    tested: fair.length,
    right: fair.filter(({ right }) => right).length,
    counts,
    classes,
    verdicts,
    left: waiting.flat().length,
    strange: strange.length,
    seenAsNew: strange.filter(({ verdict }) => verdict === "new").length,
    mistakes: fair.filter(({ right }) => !right).map(({ file }) => file),
  };
}
