// The test of a folder: the share that was right, what the verdicts were worth, and the mistakes to look at.

import { ofInput, sorted, classesOf, named } from "../state/files.js";
import { Refusal } from "../state/api.js";
import { interval } from "../state/interval.js";
import { state, watch } from "../state/store.js";
import { isAsking } from "./dialog.js";
import { at, button, capital, make, many, percent } from "./element.js";
import { offerFolder } from "./folder_preview.js";
import { complain, hush, notice } from "./overlay.js";
import { TAGS } from "./verdict.js";
import { BUSY, show } from "./ways_in.js";

const PROMISE = {
  sure: "promised: 95 in 100",
  unsure: "no promise",
  new: "not named",
};

function verdictLine(verdict, [count, right]) {
  const line = make("tr", verdict);
  const name = make("th");
  name.scope = "row";
  name.append(make("span", "tag", TAGS[verdict].name));
  line.append(name, make("td", "", String(count)), make("td", "", count ? percent(right / count) : "–"), make("td", "faint", PROMISE[verdict]));
  return line;
}

function showResult() {
  const { test: result } = state;
  const place = at("test-result");
  if (!result) {
    place.replaceChildren();
    return;
  }
  const { low, high } = interval(result.right, result.tested);
  const headline = make("p", "headline");
  if (result.tested) {
    const words = ` right: ${result.right} of ${result.tested}, likely ${percent(low)} to ${percent(high)}.`;
    headline.append(make("b", "figure", percent(result.right / result.tested)), words);
  } else headline.append("No image was of a class it knows.");
  const table = make("table");
  const head = make("tr");
  head.append(...["It said", "Images", "Right", ""].map((words) => (words ? make("th", "", words) : make("td"))));
  table.append(head, ...Object.entries(result.verdicts).map(([verdict, counts]) => verdictLine(verdict, counts)));
  const notes = [];
  if (result.left) notes.push(`Stopped: ${many(result.left)} not tested.`);
  if (result.tested && !result.verdicts.sure[0]) {
    notes.push("It was sure of nothing: for that, more images of what it knows must have been predicted while it learnt.");
  }
  if (result.strange) notes.push(`Of ${many(result.strange)} of classes it does not know, ${result.seenAsNew} looked new to it.`);
  place.replaceChildren(headline, ...(result.tested ? [table] : []));
  if (notes.length) place.append(make("p", "faint", notes.join(" ")));
  if (result.mistakes.length) {
    place.append(button(`Show the ${many(result.mistakes.length, "mistake")}`, () => show(result.mistakes)));
  }
}

export function showTest() {
  at("test-folder").addEventListener("change", async () => {
    const found = sorted(ofInput(at("test-folder").files));
    at("test-folder").value = "";
    if (isAsking()) {
      notice(BUSY);
      return;
    }
    const { classes, loose } = classesOf(found.images);
    hush();
    if (!state.classes.length) {
      complain(new Refusal(0, "files", "It knows nothing yet. Teach it first, then test it."));
      return;
    }
    if (classes.length) {
      await offerFolder({ classes, loose, others: found.others, purpose: "test", show });
      return;
    }
    const what = found.others.length ? `${capital(named(found.others))}: no images. ` : "";
    complain(new Refusal(0, "files", `${what}A test needs a folder with a subfolder of images for each class.`));
  });
  watch(["test"], showResult);
}
