// One image in the tray: as a card with all that is known, or as a tile that leaves room for hundreds.

import { paint } from "../state/slots.js";
import { tray } from "../state/tray.js";
import { teachShown } from "../work/teach.js";
import { button, make, percent } from "./element.js";
import { preview } from "./thumbnail.js";
import { TAGS, guess, meaning } from "./verdict.js";

/** Make the element of an image. */
export function makeCard(image, small) {
  const element = make("li", "image");
  element.dataset.number = image.number;
  const pick = button("", () => tray.set([image], { picked: !image.picked }), { kind: "pick" });
  const picture = make("img");
  pick.append(picture);
  pick.title = "Click to leave it out or to include it again";
  const remove = button("×", () => tray.remove([image]), { kind: "remove quiet", name: `Remove image ${image.number}` });
  element.append(pick, make("div", "answer"), remove);
  preview(picture, image);
  showCard(element, image, small);
  return element;
}

/** Show what is known of an image now. */
export function showCard(element, image, small) {
  const { status, prediction, stale } = image;
  element.className = `image ${status === "answered" ? prediction.verdict : status}${stale ? " stale" : ""}`;
  const [pick, answer] = element.children;
  pick.setAttribute("aria-pressed", String(image.picked && status !== "bad"));
  pick.setAttribute("aria-label", `Pick image ${image.number}${prediction ? `, ${guess(prediction, image.tested)}` : ""}`);
  pick.disabled = status === "bad";
  // A picked image that changes nothing else keeps its elements, and with them the focus.
  const says = `${small} ${status} ${stale} ${image.problem} ${JSON.stringify(prediction)}`;
  if (answer.says === says) return;
  answer.says = says;
  answer.replaceChildren(...(small ? smallAnswer(image) : answerOf(image)));
}

function tag(verdict) {
  const { name, sign } = TAGS[verdict];
  const element = make("span", "tag", name);
  const mark = make("span", "sign", sign);
  mark.setAttribute("aria-hidden", "true");
  element.prepend(mark);
  return element;
}

function answerOf(image) {
  const { status, prediction, problem, tested } = image;
  if (status === "waiting") return [make("p", "says", "Looking…")];
  if (status === "bad") return [make("p", "says", problem)];
  if (status === "unasked") return [make("p", "meaning", "Not looked at yet. Say what this is.")];
  const said = [tag(prediction.verdict), make("p", "says", guess(prediction, tested)), make("p", "meaning", meaning(prediction, tested))];
  return [...said, guesses(image)];
}

// Each of the likeliest classes is a button that teaches this image alone.
function guesses(image) {
  const list = make("ul", "bars");
  list.setAttribute("aria-label", "Likeliest classes");
  image.prediction.top.forEach(({ label, probability }) => {
    const line = make("li");
    const teaches = paint(button("", () => teachShown([image], label), { kind: "guess" }), label);
    teaches.title = `Teach this image as ${label}`;
    const name = make("span", "name", label);
    name.prepend(make("span", "hidden", `Teach image ${image.number} as `));
    teaches.append(name, make("span", "percent", percent(probability)));
    const bar = make("span", "bar");
    const fill = make("i");
    fill.style.setProperty("--share", percent(probability));
    bar.append(fill);
    teaches.append(bar);
    line.append(teaches);
    list.append(line);
  });
  return list;
}

function smallAnswer(image) {
  const { status, prediction, problem } = image;
  if (status === "waiting") return [make("p", "says", "Looking…")];
  if (status === "bad") {
    const says = make("p", "says", "Not readable");
    says.title = problem;
    return [says];
  }
  if (status === "unasked") return [make("p", "says faint", "What is it?")];
  const { verdict, label, probability } = prediction;
  const confirm = paint(button("", () => teachShown([image], label), { kind: "guess" }), label);
  confirm.title = `${TAGS[verdict].name}: ${percent(probability)} ${label}. Click to teach it as ${label}.`;
  const sign = make("span", "sign", TAGS[verdict].sign);
  sign.setAttribute("aria-hidden", "true");
  const name = make("span", "name", label);
  name.prepend(make("span", "hidden", `${TAGS[verdict].name}. Teach image ${image.number} as `));
  confirm.append(sign, name);
  return [confirm];
}
