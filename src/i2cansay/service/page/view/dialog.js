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

/**
 * Ask. Resolves to null for Cancel, else to { answer, value, choice }: "yes" or "other", the text of the field, and the
 * name of the choice. `list` names a list of suggestions, `other` is a second way to go on.
 */
export function ask({ title, text = "", field = "", value = "", list = "", choices = [], yes, other = "", danger = false, type = "text" }) {
  at("ask-title").textContent = title;
  at("ask-text").textContent = text;
  at("ask-text").hidden = !text;
  at("ask-field").hidden = !field;
  at("ask-label").textContent = field;
  at("ask-input").value = value;
  at("ask-input").type = type;
  at("ask-input").required = Boolean(field);
  at("ask-input").setAttribute("list", list);
  at("ask-choices").hidden = !choices.length;
  at("ask-choices").replaceChildren(make("legend", "hidden", "What it is"), ...choices.map(choiceLine));
  at("ask-yes").textContent = yes;
  at("ask-yes").className = danger ? "danger" : "primary";
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

// Enter in the field means yes; the first button of the form is Cancel.
at("ask-input").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && at("ask-input").value.trim()) {
    event.preventDefault();
    at("ask").close("yes");
  }
});
