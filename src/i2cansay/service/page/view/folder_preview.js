// A folder before it is taught or tested: its classes with some of their images, what is left out, and what to do with it.

import { interleaved } from "../state/batches.js";
import { named } from "../state/files.js";
import { similar, soundsLike } from "../state/labels.js";
import { state, teachable } from "../state/store.js";
import { teach } from "../work/teach.js";
import { test } from "../work/test.js";
import { enterPresses } from "./dialog.js";
import { at, listed, make, many } from "./element.js";
import { preview } from "./thumbnail.js";

const PEEKS = 5;
const WORDS = {
  teach: "Each image is predicted first, then learnt. Untick what you do not want.",
  test: "It says what it sees in each image, and nothing is learnt. Untick what you do not want.",
};
let urls = [];

function peek(file) {
  const place = make("span", "peek");
  const url = URL.createObjectURL(file);
  urls.push(url);
  const image = make("img");
  place.append(image);
  preview(image, { file, url });
  return place;
}

/** Which label each class of a folder probably means: a known one, or that of a larger class beside it. */
function meanings(classes, known, ownToo) {
  const settled = [...known];
  const meant = new Map();
  [...classes].sort((a, b) => b.files.length - a.files.length).forEach(({ label }) => {
    const found = similar(label, settled);
    meant.set(label, found);
    if (!found && ownToo) settled.push(label);
  });
  return meant;
}

function classLine({ label, files, places }, { meant, known, purpose }) {
  const line = make("li");
  const include = Object.assign(make("input"), { type: "checkbox", checked: true });
  const name = make("label", "include");
  name.append(include, make("span", "name", label), make("span", "count", many(files.length)));
  const peeks = make("div", "peeks");
  peeks.append(...files.slice(0, PEEKS).map(peek));
  line.append(name, peeks);
  let same = null;
  if (meant) {
    const asks = make("label", "same");
    // "Dent" is "dent"; "mouse" beside "house" may be a slip of the pen, and may be not.
    same = Object.assign(make("input"), { type: "checkbox", checked: soundsLike(label, meant) });
    asks.append(same, `the same as “${meant}”, which ${known.includes(meant) ? "it knows" : "is in this folder too"}`);
    line.append(asks);
  } else if (purpose === "test" && !known.includes(label)) {
    line.append(make("p", "faint", "It does not know this class. Does it notice?"));
  }
  if (places.length > 1) line.append(make("p", "faint", `From ${listed(places.slice(0, 4))}.`));
  return { line, files, included: () => include.checked, label: () => (same?.checked ? meant : label) };
}

function notesOn(loose, others, purpose) {
  const notes = [];
  const one = loose.length === 1;
  if (loose.length && purpose === "test") notes.push(`${many(loose.length)} in no subfolder, not tested: ${named(loose)}.`);
  else if (loose.length) notes.push(`${many(loose.length)} in no subfolder: ${one ? "it is" : "they are"} shown, not taught.`);
  if (others.length) notes.push(`Left out, not images: ${named(others)}.`);
  return notes.join(" ");
}

/**
 * Show what lies in a folder, and teach it, test with it, or look at it.
 * @param {{purpose: "teach" | "test", show: (files: File[]) => unknown}} folder and its classes, as `classesOf` finds them
 */
export async function offerFolder({ classes, loose, others, purpose, show }) {
  const known = teachable().map(({ label }) => label);
  const meant = meanings(classes, known, purpose === "teach");
  const lines = classes.map((each) => classLine(each, { meant: meant.get(each.label), known, purpose }));
  at("folder-words").textContent = WORDS[purpose];
  at("folder-classes").replaceChildren(...lines.map(({ line }) => line));
  at("folder-notes").textContent = notesOn(loose, others, purpose);
  at("folder-notes").hidden = !at("folder-notes").textContent;
  const included = () => lines.filter((each) => each.included());
  const teaches = purpose === "teach";
  const count = () => {
    const total = included().reduce((sum, { files }) => sum + files.length, 0);
    const names = new Set(included().map((each) => each.label()));
    at("folder-title").textContent = `${many(names.size, "class")}, ${many(total)}`;
    at("folder-teach").textContent = `Teach ${many(total)}`;
    at("folder-test").textContent = teaches ? "Test, learn nothing" : `Test ${many(total)}`;
    [at("folder-teach"), at("folder-test"), at("folder-look")].forEach((each) => Object.assign(each, { disabled: !total }));
  };
  at("folder-teach").hidden = at("folder-look").hidden = !teaches;
  at("folder-test").hidden = teaches && !state.classes.length;
  at("folder-test").classList.toggle("primary", !teaches);
  at("folder-classes").onchange = count;
  count();
  const wanted = await open(at(teaches ? "folder-teach" : "folder-test"));
  const pairs = () => interleaved(included().map((each) => each.files.map((file) => ({ file, label: each.label() }))));
  if (wanted === "test") await test(pairs());
  if (wanted === "teach") await teach(pairs(), { comeBack: false }); // they lie in their folder
  if (wanted === "look") await show(included().flatMap(({ files }) => files));
  if (["teach", "look"].includes(wanted) && loose.length) await show(loose);
}

enterPresses(at("folder").querySelector("form"), () => at(at("folder-teach").hidden ? "folder-test" : "folder-teach"));

function open(first) {
  const dialog = at("folder");
  dialog.returnValue = "no";
  dialog.showModal();
  first.focus();
  return new Promise((resolve) => {
    const closed = () => {
      at("folder-classes").replaceChildren();
      urls.forEach((url) => URL.revokeObjectURL(url));
      urls = [];
      resolve(dialog.returnValue || "no");
    };
    dialog.addEventListener("close", closed, { once: true });
  });
}
