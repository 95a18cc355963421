// Read what a view needs when it is opened, and again when the model has changed.

import { api } from "../state/api.js";
import { change, state, watch } from "../state/store.js";
import { attempt } from "./attempt.js";

const NEEDS = { check: ["confusion", "map"], lessons: ["lessons"], teach: [] };

async function read(part) {
  const { model, revision } = state;
  const found = await api[part](model);
  if (model === state.model && revision === state.revision) change({ [part]: found });
}

/** Keep the parts of the open view up to date. `refresh` empties them when the model has changed. */
export function keepInsight() {
  const under = new Set();
  const readMissing = () => {
    const { model } = state;
    if (!model) return;
    NEEDS[state.view].filter((part) => state[part] === null).forEach(async (part) => {
      const key = JSON.stringify([model, part]);
      if (under.has(key)) return;
      under.add(key);
      const { revision } = state;
      await attempt(() => read(part));
      under.delete(key);
      // What was read of a model that has changed since was left out.
      if (state.model !== model || state.revision !== revision) readMissing();
    });
  };
  watch(["view", "model", "confusion", "map", "lessons"], readMissing);
}
