// The lessons that can still be taken back or moved to another class, and why older ones cannot.

import { groupsOf } from "../state/lesson_groups.js";
import { paint } from "../state/slots.js";
import { change, state, watch } from "../state/store.js";
import { keepInsight } from "../work/insight.js";
import { moveLessons, takeBack } from "../work/take_back.js";
import { settle } from "../work/teach.js";
import { ask } from "./dialog.js";
import { ago, at, button, make, many } from "./element.js";

const MANY = 24;
let timer = 0;

function groupLine(group) {
  const { classes } = group;
  const single = classes.length === 1;
  const line = single ? paint(make("li"), classes[0].label) : make("li");
  const words = single ? wordsOf(classes[0]) : `${many(group.n)} of ${many(classes.length, "class")}`;
  const about = make("div", "about");
  const facts = [ago(group.at), whose(group), `can be changed until ${clock(group.until)}`];
  about.append(make("b", "", words), make("span", "count", facts.filter(Boolean).join(" · ")));
  line.append(about);
  if (single) {
    line.append(actsOf(group, classes[0], words));
    return line;
  }
  const whole = { ids: group.ids, label: null, reason: classes.find(({ reason }) => reason)?.reason };
  line.append(acts(whole.reason, takingBack(group, whole, words, "Take back all")));
  const list = make("ul", "parts");
  list.append(
    ...classes.map((each) => {
      const part = paint(make("li"), each.label);
      const about = make("div", "about");
      about.append(make("i", "spot"), make("b", "", each.label), make("span", "count", many(each.n)));
      part.append(about, actsOf(group, each, wordsOf(each)));
      return part;
    }),
  );
  line.append(list);
  return line;
}

function wordsOf({ label, n }) {
  return `${many(n)} of ${label}`;
}

function whose({ own, who }) {
  if (own) return who ? "by you" : ""; // without tokens nobody is told apart
  return who ? `by ${who}` : "by somebody else";
}

// What can be done with some images of a lesson, or why nothing can.
function acts(reason, ...buttons) {
  if (reason) return make("p", "faint", `Not now: ${reason}.`);
  const place = make("div", "acts");
  place.append(...buttons);
  return place;
}

function actsOf(group, part, words) {
  const move = button("Move to…", () => askMove(group, part, words), { kind: "quiet", name: `Move to… another class: ${words}` });
  return acts(part.reason, takingBack(group, part, words, "Take back"), move);
}

function takingBack(group, { ids, label }, words, name) {
  const act = async () => {
    const title = group.own ? `Take back ${words}?` : `Take back ${words}, taught ${whose(group)}?`;
    const asked = group.own && (label === null ? group.n : group.classes.find((each) => each.label === label).n) <= MANY;
    if (asked || (await ask({ title, text: "To have it again, it would have to be taught again.", yes: "Take back" }))) {
      takeBack(state.model, partsOf(ids, label), label);
    }
  };
  return button(name, act, { kind: "quiet", name: `${name} ${words}` });
}

// Lessons by their ids, with how many of their images, or of one class of them, there are.
function partsOf(ids, label) {
  const found = new Map((state.lessons?.lessons ?? []).map((lesson) => [lesson.id, label === null ? lesson.n : lesson.labels[label]]));
  return ids.map((id) => ({ id, n: found.get(id) ?? 0 }));
}

async function askMove(group, { ids, label, n }, words) {
  const whom = group.own ? "" : ` They were taught ${whose(group)}.`;
  const check = (name) => (name === label ? `${n === 1 ? "It is" : "They are"} in ${label} already.` : "");
  const answered = await ask({ title: `Move ${words}`, text: `To another class, known or new.${whom}`, field: "Class", list: "labels", yes: "Move", check });
  const wanted = answered && (await settle(answered.value));
  if (wanted) moveLessons(partsOf(ids, label), wanted, label);
}

function clock(seconds) {
  return new Date(1000 * seconds).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

function showList() {
  const { lessons } = state;
  if (!lessons) return;
  const groups = groupsOf(lessons.lessons);
  const held = [...at("lessons").querySelectorAll("button")].indexOf(document.activeElement);
  at("lessons").replaceChildren(...groups.map(groupLine));
  // The focus goes to what has taken the place, or to the view.
  if (held >= 0) ([...at("lessons").querySelectorAll("button")][held] ?? at("to-lessons")).focus();
  at("lessons-words").textContent = groups.length
    ? "A lesson stays here as long as what it was learnt from is in memory."
    : "None at the moment. What you teach appears here, and stays for a while.";
  at("older").textContent = lessons.older;
  // One that can no longer be changed leaves the list.
  clearTimeout(timer);
  const next = Math.min(...groups.map(({ until }) => until));
  if (Number.isFinite(next)) timer = setTimeout(() => change({ lessons: null }), Math.max(1000, 1000 * next - Date.now() + 500));
}

export function showLessons() {
  watch(["lessons"], showList);
  keepInsight();
}
