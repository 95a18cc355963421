// What the page knows about the chosen model, in one place. Views watch the parts they show.

/**
 * @typedef {object} State
 * @property {{name: string, learner: string, can_undo: boolean, read_only: string}[]} models
 * @property {string} model the name of the chosen one, "" for none
 * @property {number} minSamples a class of fewer samples is kept in memory only
 * @property {boolean} canUndo
 * @property {string} revision another one after every change of the model
 * @property {{label: string, count: number, durable: boolean, first: number, last: number}[]} classes
 * @property {object | null} accuracy
 * @property {object | null} confusion
 * @property {object | null} map
 * @property {object | null} lessons
 * @property {object | null} test the result of the last test of a folder
 * @property {Set<string>} leaving labels that are about to be forgotten
 * @property {{words: string, done: number, total: number, stop: (() => void) | null} | null} job
 * @property {boolean} reachable whether the service answered last time
 * @property {string} view "teach", "check" or "lessons"
 */

/** @type {State} */
export const state = {
  models: [],
  model: "",
  minSamples: 2,
  canUndo: true,
  revision: "",
  classes: [],
  accuracy: null,
  confusion: null,
  map: null,
  lessons: null,
  test: null,
  leaving: new Set(),
  job: null,
  reachable: true,
  view: "teach",
};

/** @type {{keys: string[], listener: () => void}[]} */
const watchers = [];
/** @type {Set<string>} */
let changed = new Set();

/** Change some parts; views that watch them are told once, after the current work. */
export function change(parts) {
  const different = Object.keys(parts).filter((key) => state[key] !== parts[key]);
  Object.assign(state, parts);
  if (changed.size === 0 && different.length) queueMicrotask(tell);
  different.forEach((key) => changed.add(key));
}

/** Call a listener whenever one of these parts has changed, and once now. */
export function watch(keys, listener) {
  watchers.push({ keys, listener });
  listener();
}

function tell() {
  const keys = changed;
  changed = new Set();
  watchers.filter((each) => each.keys.some((key) => keys.has(key))).forEach(({ listener }) => listener());
}

/** The classes a person can teach: all but those that are about to be forgotten. */
export function teachable() {
  return state.classes.filter(({ label }) => !state.leaving.has(label));
}
