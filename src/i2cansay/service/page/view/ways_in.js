// The ways in: drop, choose, paste, photograph; files and folders.

import { Refusal } from "../state/api.js";
import { classesOf, named, ofDrop, ofInput, sorted } from "../state/files.js";
import { change } from "../state/store.js";
import { tray } from "../state/tray.js";
import { look } from "../work/look.js";
import { isAsking } from "./dialog.js";
import { at, capital } from "./element.js";
import { offerFolder } from "./folder_preview.js";
import { complain, hush, notice } from "./overlay.js";

/** Said when files come while a dialog is open. */
export const BUSY = "Answer the open question first, then show this again.";

/** Take files in: a folder of classes is previewed, everything else goes to the tray. What is no image is named. */
export async function takeIn(found) {
  if (isAsking()) {
    notice(BUSY);
    return;
  }
  const { images, others } = sorted(found);
  hush();
  if (!images.length) {
    if (!found.length) return;
    const what = others.length ? `${capital(named(others))}: no images.` : "There are no images in there.";
    complain(refusal(`${what} Use PNG, JPEG, WebP, GIF, BMP or TIFF.`));
    return;
  }
  const { classes, loose } = classesOf(images);
  if (classes.length) {
    await offerFolder({ classes, loose, others, purpose: "teach", show });
    return;
  }
  if (others.length) complain(refusal(`Left out, not images: ${named(others)}.`));
  await show(loose);
}

function refusal(sentence) {
  return new Refusal(0, "files", sentence);
}

/** Put images into the tray, which comes into view, and look at them. */
export function show(files) {
  change({ view: "teach" });
  const shown = look(tray.add(files));
  at("show").scrollIntoView({ block: "nearest" });
  return shown;
}

export function showWaysIn() {
  ["choose", "choose-folder", "photograph"].forEach((id) => {
    at(id).addEventListener("change", () => {
      const found = ofInput(at(id).files);
      at(id).value = "";
      takeIn(found);
    });
  });
  document.addEventListener("paste", (event) => {
    if (event.clipboardData.files.length) takeIn(ofInput(event.clipboardData.files));
  });
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    at("drop").classList.add("over");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) at("drop").classList.remove("over");
  });
  document.addEventListener("drop", async (event) => {
    event.preventDefault();
    at("drop").classList.remove("over");
    takeIn(await ofDrop(event.dataTransfer));
  });
}
