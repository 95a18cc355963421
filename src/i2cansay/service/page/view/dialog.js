// The dialog: a question with a text field, with choices, or with neither.

import { at, make } from "./element.js";

function choiceLine({ name, words, usual }) {
  const line = make("label", "choice");
  const radio = make("input");
  Object.assign(radio, { type: "radio", name: "ask-choice", value: name, checked: usual });
  const about = make("span");
  about.append(make("b", "", name), " ", make("span", "faint", `${words}.${usual ? " The usual one." : ""}`));
  line.append(radio, about);
  return line;
}

/** Whether a question or a preview is open: what it asks about must not change under it. */
export function isAsking() {
  return Boolean(document.querySelector("dialog[open]"));
}

const BLANK = "Give it a name first.";
/** What is wrong with a text, as a sentence, or "". */
let problemOf = () => "";

/**
 * Ask. Resolves to null for Cancel, else to { answer, value, choice }: "yes" or "other", the text of the field, and the
 * name of the choice. `list` names a list of suggestions, `other` is a second way to go on. A text that is blank, or that
 * `check` finds something wrong with, is said so, and the question stays.
 */
export function ask({ title, text = "", field = "", value = "", list = "", choices = [], yes, other = "", type = "text", blank = BLANK, check = () => "" }) {
  problemOf = (given) => (!field ? "" : given ? check(given) : blank);
  say("");
  at("ask-title").textContent = title;
  at("ask-text").textContent = text;
  at("ask-text").hidden = !text;
  at("ask-field").hidden = !field;
  at("ask-label").textContent = field;
  at("ask-input").value = value;
  at("ask-input").type = type;
  at("ask-input").setAttribute("list", list);
  at("ask-choices").hidden = !choices.length;
  at("ask-choices").replaceChildren(make("legend", "hidden", "What it is"), ...choices.map(choiceLine));
  at("ask-yes").textContent = yes;
  at("ask-other").textContent = other;
  at("ask-other").hidden = !other;
  const dialog = at("ask");
  dialog.returnValue = "no";
  dialog.showModal();
  if (field) at("ask-input").select();
  else at("ask-yes").focus();
  return new Promise((resolve) => {
    dialog.addEventListener(
      "close",
      () => {
        const answer = dialog.returnValue;
        const choice = dialog.querySelector("input[type=radio]:checked")?.value ?? "";
        resolve(["yes", "other"].includes(answer) ? { answer, value: at("ask-input").value.trim(), choice } : null);
      },
      { once: true },
    );
  });
}

function say(problem) {
  at("ask-problem").textContent = problem;
  at("ask-input").setAttribute("aria-invalid", String(Boolean(problem)));
}

/** Enter in a field or a choice of a form presses a button of it: else it would press the first, which is Cancel. */
export function enterPresses(form, chosen) {
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.tagName !== "INPUT") return;
    event.preventDefault();
    const pressed = chosen();
    if (!pressed.disabled) form.requestSubmit(pressed);
  });
}

enterPresses(at("ask-form"), () => at("ask-yes"));
at("ask-input").addEventListener("input", () => say(""));
at("ask-form").addEventListener("submit", (event) => {
  const problem = event.submitter?.value === "yes" ? problemOf(at("ask-input").value.trim()) : "";
  if (!problem) return;
  event.preventDefault();
  say(problem);
  at("ask-input").focus();
});
