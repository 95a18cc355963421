// Change one's mind about lessons: take them back, or move them to another class. Both may be for one class of them.

import { api } from "../state/api.js";
import { relabelImages, releaseImages } from "../state/taught.js";
import { state } from "../state/store.js";
import { tray } from "../state/tray.js";
import { many } from "../view/element.js";
import { notice } from "../view/overlay.js";
import { fresh } from "./attempt.js";
import { stay } from "./forget.js";
import { lookAgain } from "./look.js";
import { refresh } from "./refresh.js";

/** Take lessons back, the last one first, all of them or `only` one class. Images at hand come back into the tray. */
export function takeBack(model, lessons, only = null) {
  const waiting = [...lessons];
  const files = [];
  return fresh(async () => {
    while (waiting.length) {
      await api.undo(model, waiting.at(-1), only);
      files.push(...releaseImages(waiting.pop(), only));
    }
    const again = files.length ? ` ${many(files.length)} ${files.length === 1 ? "is" : "are"} in the tray again.` : "";
    notice(`Taken back.${again}`);
    await refresh();
    tray.add(files);
    lookAgain();
  });
}

/** Teach lessons, or `only` one class of them, under another label instead. */
export function moveLessons(lessons, label, only = null) {
  const { model } = state;
  const waiting = [...lessons];
  return fresh(async () => {
    await stay(model, [label]);
    while (waiting.length) {
      await api.move(model, waiting.at(-1), label, only);
      relabelImages(only, label, waiting.pop());
    }
    notice(`Moved to ${label}.`);
    await refresh();
    lookAgain();
  });
}
