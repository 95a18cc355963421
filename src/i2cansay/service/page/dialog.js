// The dialog: a question with a text field, with choices, or with neither.

import { make } from "./element.js";

const at = (id) => document.getElementById(id);

function choiceLine({ name, words, usual }) {
  const line = make("label", "choice");
  const button = make("input");
  Object.assign(button, { type: "radio", name: "ask-choice", value: name, checked: usual });
  const about = make("span");
  about.append(make("b", "", name), " ", make("span", "faint", `${words}.${usual ? " The usual one." : ""}`));
  line.append(button, about);
  return line;
}

// Ask; resolves to null for Cancel, else to { value, choice }: the text of the field, and the name of the choice.
export function ask({ title, text = "", field = "", value = "", choices = [], yes, danger = false, type = "text" }) {
  at("ask-title").textContent = title;
  at("ask-text").textContent = text;
  at("ask-text").hidden = !text;
  at("ask-field").hidden = !field;
  at("ask-label").textContent = field;
  at("ask-input").value = value;
  at("ask-input").type = type;
  at("ask-input").required = Boolean(field);
  at("ask-choices").hidden = !choices.length;
  at("ask-choices").replaceChildren(make("legend", "hidden", "What it is"), ...choices.map(choiceLine));
  at("ask-yes").textContent = yes;
  at("ask-yes").className = danger ? "danger" : "primary";
  const dialog = at("ask");
  dialog.returnValue = "no";
  dialog.showModal();
  if (field) at("ask-input").select();
  return new Promise((resolve) => {
    dialog.addEventListener(
      "close",
      () => {
        const choice = dialog.querySelector("input[type=radio]:checked")?.value ?? "";
        resolve(dialog.returnValue === "yes" ? { value: at("ask-input").value.trim(), choice } : null);
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
