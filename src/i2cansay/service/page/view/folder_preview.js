// A folder before it is taught: its classes with some of their images, what is left out, and what to do with it.

import { interleaved } from "../state/batches.js";
import { named } from "../state/files.js";
import { similar } from "../state/labels.js";
import { state, teachable } from "../state/store.js";
import { teach } from "../work/teach.js";
import { test } from "../work/test.js";
import { at, listed, make, many } from "./element.js";
import { preview } from "./thumbnail.js";

const PEEKS = 5;
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

function classLine({ label, files, places }, known) {
  const line = make("li");
  const include = Object.assign(make("input"), { type: "checkbox", checked: true });
  const name = make("label", "include");
  name.append(include, make("span", "name", label), make("span", "count", many(files.length)));
  const peeks = make("div", "peeks");
  peeks.append(...files.slice(0, PEEKS).map(peek));
  line.append(name, peeks);
  const meant = similar(label, known);
  let same = null;
  if (meant) {
    const asks = make("label", "same");
    same = Object.assign(make("input"), { type: "checkbox", checked: true });
    asks.append(same, `the same as “${meant}”, which it knows`);
    line.append(asks);
  }
  if (places.length > 1) line.append(make("p", "faint", `From ${listed(places.slice(0, 4))}.`));
  return { line, files, included: () => include.checked, label: () => (same?.checked ? meant : label) };
}

/** Show what lies in a folder, and teach it, test with it, or look at it. */
export async function offerFolder({ classes, loose, others, show }) {
  const lines = classes.map((each) => classLine(each, teachable().map(({ label }) => label)));
  at("folder-classes").replaceChildren(...lines.map(({ line }) => line));
  const notes = [];
  if (loose.length) notes.push(`${many(loose.length)} in no subfolder: ${loose.length === 1 ? "it is" : "they are"} shown, not taught.`);
  if (others.length) notes.push(`Left out, not images: ${named(others)}.`);
  at("folder-notes").textContent = notes.join(" ");
  at("folder-notes").hidden = !notes.length;
  const included = () => lines.filter((each) => each.included());
  const count = () => {
    const total = included().reduce((sum, { files }) => sum + files.length, 0);
    at("folder-title").textContent = `${many(included().length, "class")}, ${many(total)}`;
    at("folder-teach").textContent = `Teach ${many(total)}`;
    [at("folder-teach"), at("folder-test"), at("folder-look")].forEach((each) => Object.assign(each, { disabled: !total }));
    at("folder-test").hidden = !state.classes.length;
  };
  at("folder-classes").onchange = count;
  count();
  const wanted = await open();
  const pairs = () => interleaved(included().map((each) => each.files.map((file) => ({ file, label: each.label() }))));
  if (wanted === "teach") await teach(pairs());
  if (wanted === "test") await test(pairs());
  if (wanted === "look") await show(included().flatMap(({ files }) => files));
  if (wanted !== "no" && loose.length) await show(loose);
}

function open() {
  const dialog = at("folder");
  dialog.returnValue = "no";
  dialog.showModal();
  at("folder-teach").focus();
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
