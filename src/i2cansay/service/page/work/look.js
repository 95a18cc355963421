// Ask the model about images in the tray.

import { Refusal, api } from "../state/api.js";
import { parts } from "../state/batches.js";
import { state } from "../state/store.js";
import { tray } from "../state/tray.js";
import { capital } from "../view/element.js";
import { complain, startJob } from "../view/overlay.js";
import { askForToken } from "./attempt.js";

const WITHOUT_PROGRESS = 24;
/** After a lesson so many images are asked about again at once; more, when a person wants it. */
export const AGAIN = 24;
let round = 0;

/** Ask about these images; a later round about all of them takes the place of an earlier one. */
export async function look(images, { all = false } = {}) {
  if (!images.length) return;
  if (!state.classes.length) {
    tray.set(images, { status: "unasked", prediction: null, problem: "", stale: false });
    return;
  }
  if (all) round += 1;
  const mine = round;
  tray.set(images.filter((image) => !image.prediction), { status: "waiting", problem: "" });
  const job = images.length > WITHOUT_PROGRESS && !busyElsewhere() ? startJob("look", "Looking", images.length) : null;
  let done = 0;
  for (const part of parts(images)) {
    if (mine !== round || job?.stopped() || (job?.replaced() && busyElsewhere())) break;
    const here = part.filter((image) => tray.all().includes(image));
    if (here.length && !(await lookAt(here, state.model))) break;
    done += part.length;
    job?.step(done);
  }
  job?.end();
  const left = images.filter((image) => image.status === "waiting");
  if (left.length && mine === round) tray.set(left, { status: "unasked" });
  tray.arrange();
}

// Looking gives way to a lesson or a test, not to another look.
function busyElsewhere() {
  return Boolean(state.job) && state.job.kind !== "look";
}

async function lookAt(images, model) {
  try {
    const { predictions, tested } = await api.predict(model, images.map(({ file }) => file));
    if (model !== state.model) return false;
    images.forEach((image, index) => {
      Object.assign(image, { prediction: predictions[index], tested, status: "answered", stale: false, problem: "" });
    });
    tray.set(images, {});
  } catch (error) {
    if (error.status === 401 && (await askForToken())) return lookAt(images, model);
    if (error.status === 422 && images.length > 1) {
      // One of them is not an image: send each alone, so that the others get their answer.
      for (const image of images) await lookAt([image], model);
    } else if (error.status === 422) {
      tray.set(images, { status: "bad", problem: capital(error.message.replace(/^image 1: /, "")), prediction: null });
    } else {
      tray.set(images.filter((image) => !image.prediction), { status: "unasked" });
      complain(error, error instanceof Refusal ? lookAtTheRest : null);
      return false;
    }
  }
  return true;
}

/** Ask about the images that have no answer, as after an outage. */
export function lookAtTheRest() {
  return look(tray.where(({ status }) => status === "unasked"));
}

/** After the model has changed: few images are asked about again, of many the answers are marked as old. */
export function lookAgain() {
  const images = tray.where(() => true);
  const [now, later] = [images.slice(0, AGAIN), images.slice(AGAIN)];
  if (!state.classes.length) return look(images, { all: true });
  tray.set(later.filter(({ prediction }) => prediction), { stale: true });
  return look([...now, ...later.filter(({ prediction }) => !prediction)], { all: true });
}
