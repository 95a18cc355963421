// The images that were shown and not yet taught: what the model says of each, and which are picked.

/**
 * @typedef {object} Shown
 * @property {number} number counts from 1, for names
 * @property {File} file
 * @property {string} url of the preview
 * @property {boolean} picked
 * @property {"waiting" | "unasked" | "answered" | "bad"} status unasked: the model knows nothing yet
 * @property {string} problem why it is bad
 * @property {object | null} prediction
 * @property {number} tested on how many tests the verdict rests
 * @property {boolean} stale whether the model has learnt since it was asked
 */

/** @type {Shown[]} */
let shown = [];
let count = 0;
let order = "least-sure";
const listeners = [];

/** Call a listener with what happened: { added, removed, changed, moved }. */
export function watchTray(listener) {
  listeners.push(listener);
}

function tell({ added = [], removed = [], changed = [], moved = false }) {
  listeners.forEach((listener) => listener({ added, removed, changed, moved }));
}

export const tray = {
  all: () => shown,
  picked: () => shown.filter((image) => image.picked && image.status !== "bad"),
  where: (test) => shown.filter((image) => image.status !== "bad" && test(image)),
  order: () => order,

  /** Show more images; all are picked. */
  add(files) {
    const added = files.map((file) => {
      count += 1;
      const blank = { status: "waiting", problem: "", prediction: null, tested: 0, stale: false };
      return { number: count, file, url: URL.createObjectURL(file), picked: true, ...blank };
    });
    shown = [...shown, ...added];
    tell({ added });
    return added;
  },

  remove(images) {
    const gone = new Set(images.filter((image) => shown.includes(image)));
    if (!gone.size) return;
    shown = shown.filter((image) => !gone.has(image));
    gone.forEach((image) => URL.revokeObjectURL(image.url));
    if (!shown.length) count = 0;
    tell({ removed: [...gone] });
  },

  /** Change some facts of some images. */
  set(images, facts) {
    const changed = images.filter((image) => shown.includes(image));
    changed.forEach((image) => Object.assign(image, facts));
    tell({ changed });
  },

  /** Pick exactly these. */
  pickOnly(images) {
    const wanted = new Set(images);
    const changed = shown.filter((image) => image.picked !== wanted.has(image));
    changed.forEach((image) => Object.assign(image, { picked: wanted.has(image) }));
    tell({ changed });
  },

  /** Put in order: "least-sure" or "as-they-came". */
  arrange(wanted = order) {
    order = wanted;
    const sorted = [...shown].sort(order === "least-sure" ? bySureness : (a, b) => a.number - b.number);
    const moved = sorted.some((image, index) => image !== shown[index]);
    shown = sorted;
    if (moved) tell({ moved });
  },
};

const RANK = { new: 0, unsure: 1, sure: 2 };

function sureness({ status, prediction }) {
  if (status === "bad") return 9;
  return prediction ? RANK[prediction.verdict] + Math.min(prediction.probability, 0.999) : -1;
}

function bySureness(a, b) {
  return sureness(a) - sureness(b) || a.number - b.number;
}
