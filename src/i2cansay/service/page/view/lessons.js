// The lessons that can still be taken back or moved to another class, and why older ones cannot.

import { api } from "../state/api.js";
import { paint } from "../state/slots.js";
import { change, state, watch } from "../state/store.js";
import { fresh } from "../work/attempt.js";
import { keepInsight } from "../work/insight.js";
import { lookAgain } from "../work/look.js";
import { refresh } from "../work/refresh.js";
import { settle, takeBack } from "../work/teach.js";
import { ask } from "./dialog.js";
import { ago, at, button, make, many, tally } from "./element.js";
import { notice } from "./overlay.js";

let timer = 0;

function lessonLine(lesson) {
  const { labels, n: total, reason } = lesson;
  const names = Object.keys(labels);
  const words = names.length === 1 ? `${many(total)} of ${names[0]}` : `${many(total)}: ${tally(labels)}`;
  const line = paint(make("li"), names[0]);
  const about = make("div", "about");
  const who = lesson.who ? ` · ${lesson.who}` : "";
  about.append(make("b", "", words), make("span", "count", `${ago(lesson.at)}${who} · can be changed until ${clock(lesson.until)}`));
  line.append(about);
  if (reason) {
    line.append(make("p", "faint", `Not now: ${reason}.`));
    return line;
  }
  const acts = make("div", "acts");
  acts.append(
    button("Take back", () => takeBack(state.model, [lesson.id]), { kind: "quiet", name: `Take back ${words}` }),
    button("Move to…", () => move(lesson, words), { kind: "quiet", name: `Move to… another class: ${words}` }),
  );
  line.append(acts);
  return line;
}

function clock(seconds) {
  return new Date(1000 * seconds).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

async function move(lesson, words) {
  const answered = await ask({ title: `Move ${words}`, text: "To another class, known or new.", field: "Class", list: "labels", yes: "Move" });
  const label = answered && (await settle(answered.value));
  if (!label) return;
  await fresh(async () => {
    await api.move(state.model, lesson.id, label);
    notice(`Moved to ${label}.`);
    await refresh();
    lookAgain();
  });
}

function showList() {
  const { lessons } = state;
  if (!lessons) return;
  at("lessons").replaceChildren(...lessons.lessons.map(lessonLine));
  at("lessons-words").textContent = lessons.lessons.length
    ? "A lesson stays here as long as what it was learnt from is in memory."
    : "None at the moment. What you teach appears here, and stays for a while.";
  at("older").textContent = lessons.older;
  // One that can no longer be changed leaves the list.
  clearTimeout(timer);
  const next = Math.min(...lessons.lessons.map(({ until }) => until));
  if (Number.isFinite(next)) timer = setTimeout(() => change({ lessons: null }), Math.max(1000, 1000 * next - Date.now() + 500));
}

export function showLessons() {
  watch(["lessons"], showList);
  keepInsight();
}
