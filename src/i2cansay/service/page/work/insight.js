// Read what a view needs when it is opened, and again when the model has changed.

import { api } from "../state/api.js";
import { change, state, watch } from "../state/store.js";
import { attempt } from "./attempt.js";

const NEEDS = { check: ["confusion", "map"], lessons: ["lessons"], teach: [] };

async function read(part) {
  const { model } = state;
  const found = await api[part](model);
  if (model === state.model) change({ [part]: found });
}

/** Keep the parts of the open view up to date. `refresh` empties them when the model has changed. */
export function keepInsight() {
  const under = new Set();
  watch(["view", "model", "confusion", "map", "lessons"], () => {
    if (!state.model) return;
    NEEDS[state.view]
      .filter((part) => state[part] === null && !under.has(part))
      .forEach((part) => {
        under.add(part);
        attempt(() => read(part)).finally(() => under.delete(part));
      });
  });
}
