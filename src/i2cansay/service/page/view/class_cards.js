// What it knows: a card for each class, with its count, its colour, its key, and a way to add images.

import { Refusal, api } from "../state/api.js";
import { isImage, named } from "../state/files.js";
import { similar } from "../state/labels.js";
import { inOrder, keyOf, paint, renamed } from "../state/slots.js";
import { state, watch } from "../state/store.js";
import { relabelImages } from "../state/taught.js";
import { fresh } from "../work/attempt.js";
import { forget } from "../work/forget.js";
import { lookAgain } from "../work/look.js";
import { refresh } from "../work/refresh.js";
import { missing, settle, teach } from "../work/teach.js";
import { ask } from "./dialog.js";
import { ago, at, button, make, many, percent } from "./element.js";
import { complain, notice } from "./overlay.js";

const SECOND = "Now a second thing: show images of it, and give it another name. From two on it tells them apart.";
const NEW = "Now show it something it has not seen. It says what it sees, and how sure it is. Correct it where it is wrong.";
/** The class that the chosen files are for. */
let wanted = "";

function showClasses() {
  const { classes, leaving } = state;
  const most = Math.max(1, ...classes.map(({ count }) => count));
  const held = document.activeElement?.closest("#classes button");
  const [label, act] = [held?.closest("li").dataset.label, held?.textContent];
  at("classes").replaceChildren(...inOrder(classes).map((each) => classCard(each, most, leaving.has(each.label))));
  at("total").textContent = classes.length ? many(classes.reduce((sum, { count }) => sum + count, 0)) : "";
  at("nothing").hidden = at("no-classes").hidden = classes.length > 0;
  at("next").hidden = !classes.length;
  at("next").textContent = classes.length === 1 ? SECOND : NEW;
  if (held) {
    const card = [...at("classes").children].find((each) => each.dataset.label === label);
    [...(card?.querySelectorAll("button") ?? [])].find((each) => each.textContent === act)?.focus();
  }
}

function classCard({ label, count, durable, last }, most, leaving) {
  const card = paint(make("li", leaving ? "leaving" : ""), label);
  card.dataset.label = label;
  const about = make("div", "about");
  about.append(make("i", "spot"), make("span", "name", label));
  const key = keyOf(label);
  if (key) {
    const shown = make("kbd", "", key);
    shown.title = `Press ${key} to teach the picked images as ${label}`;
    about.append(shown);
  }
  about.append(make("span", "count", leaving ? "about to be forgotten" : `${count} · ${ago(last)}`));
  if (!durable) {
    const tag = make("span", "tag memory", "in memory only");
    tag.title = `With so few images the file would reveal them, so the class is not saved yet: ${missing(count)}.`;
    about.append(tag);
  }
  const bar = make("div", "bar");
  bar.style.setProperty("--share", percent(count / most));
  card.append(about, bar);
  if (leaving) return card;
  const acts = make("div", "acts");
  const does = (name, act) => button(name, act, { kind: "quiet", name: `${name} ${label}` });
  const add = button("Add images", () => choose(label), { kind: "quiet", name: `Add images to ${label}` });
  acts.append(add, does("Rename", () => rename(label)), does("Forget", () => forget(label, count)));
  card.append(acts);
  return card;
}

function choose(label) {
  wanted = label;
  at("add-to-class").click();
}

async function add() {
  const files = [...at("add-to-class").files];
  at("add-to-class").value = "";
  const others = files.filter((file) => !isImage(file));
  await teach(files.filter(isImage).map((file) => ({ file, label: wanted })));
  if (others.length) complain(new Refusal(0, "files", `left out, not images: ${named(others)}`));
}

async function rename(label) {
  const others = state.classes.map((each) => each.label).filter((each) => each !== label);
  const check = (name) => (others.includes(name) ? `There is a class called ${name} already.` : "");
  const answered = await ask({ title: `Rename “${label}”`, field: "New name", value: label, yes: "Rename", check });
  if (!answered || answered.value === label) return;
  const name = answered.value;
  const close = similar(name, others);
  const text = "Two names for one thing are two classes. To make one of two, teach the images as one of them.";
  if (close && !(await ask({ title: `Call it “${name}” beside “${close}”?`, text, yes: "Rename" }))) return;
  await fresh(async () => {
    await api.rename(state.model, label, name);
    renamed(label, name);
    relabelImages(label, name);
    notice(`${label} is now called ${name}.`);
    await refresh();
    lookAgain();
  });
}

// A class of a name that is not there yet, from files: the shortest way to begin.
async function addClass() {
  const answered = await ask({
    title: "Add a class",
    text: "Name it, then choose images of it. Two or more, as different from each other as they come.",
    field: "Name",
    yes: "Choose images",
  });
  const label = answered && (await settle(answered.value));
  if (label) choose(label);
}

export function showClassCards() {
  watch(["classes", "leaving"], showClasses);
  at("add-to-class").addEventListener("change", add);
  at("add-class").addEventListener("click", addClass);
}
