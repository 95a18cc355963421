// The three views of the page: teach, check, lessons.

import { change, state, watch } from "../state/store.js";
import { at } from "./element.js";

const VIEWS = ["teach", "check", "lessons"];

export function showTabs() {
  VIEWS.forEach((view) => at(`to-${view}`).addEventListener("click", () => change({ view })));
  watch(["view"], () => {
    VIEWS.forEach((view) => {
      at(`view-${view}`).hidden = view !== state.view;
      if (view === state.view) at(`to-${view}`).setAttribute("aria-current", "page");
      else at(`to-${view}`).removeAttribute("aria-current");
    });
  });
}
