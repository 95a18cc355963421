// Choosing a model, making one, and taking one in or out.

import { Refusal, api } from "../state/api.js";
import { predictionsAsCsv } from "../state/csv.js";
import { recall, remember } from "../state/memory.js";
import { change, state, watch } from "../state/store.js";
import { tray, watchTray } from "../state/tray.js";
import { attempt, fresh } from "../work/attempt.js";
import { lookAgain } from "../work/look.js";
import { refresh } from "../work/refresh.js";
import { ask } from "./dialog.js";
import { at, make } from "./element.js";
import { complain, notice } from "./overlay.js";

/** Choices whose own words are for those who know the paper. */
const PLAIN = { paper: "smallest, and least accurate; for comparison with published results" };
const NAME_RULE = "Small letters, digits, - and _.";

/** What is wrong with the name of a new model, or "". */
function nameProblem(name) {
  if (state.models.some((each) => each.name === name)) return `There is a model called ${name} already.`;
  return /^[a-z0-9][a-z0-9_-]{0,62}$/.test(name) ? "" : `${NAME_RULE} A letter or digit comes first.`;
}

/** Read the models and open one: the wanted one, else the one that was used last, else the first. */
export async function openModel(wanted = "") {
  const { models, damaged } = await api.models();
  const named = (name) => models.find((each) => each.name === name);
  const found = named(wanted) || named(recall("model", "")) || models[0];
  change({
    models,
    model: found?.name ?? "",
    canUndo: found?.can_undo ?? false,
    minSamples: found?.min_samples ?? 2,
    revision: found?.revision ?? "",
    classes: [],
    accuracy: null,
    test: null,
  });
  history.replaceState(null, "", found ? `#${found.name}` : "/");
  if (found) remember("model", found.name);
  if (damaged.length) {
    complain(new Refusal(503, "damaged", damaged.map(({ name, problem }) => `The model ${name} ${problem}.`).join(" ")));
  }
  if (!found) complain(new Refusal(404, "none", "There is no model yet. Make one: Model, New model."));
  else if (found.read_only) complain(new Refusal(507, "read_only", `Nothing can be taught: ${found.read_only}.`));
  if (found) await refresh();
}

async function newModel() {
  const offered = await fresh(api.choices);
  if (!offered) return;
  const choices = offered.map((each) => ({ ...each, words: PLAIN[each.name] ?? each.words }));
  const text = `It knows nothing yet. For its name: ${NAME_RULE.toLowerCase()}`;
  const chosen = await ask({ title: "New model", text, field: "Name", choices, yes: "Make it", check: nameProblem });
  if (!chosen) return;
  await fresh(async () => {
    await api.create(chosen.value, chosen.choice);
    await openModel(chosen.value);
    notice(`Made ${chosen.value}.`);
    lookAgain();
  });
}

async function importModel(file) {
  const suggested = file.name.replace(/\.i2cs$/i, "").toLowerCase().replace(/[^a-z0-9_-]+/g, "-").replace(/^[-_]+/, "").slice(0, 60);
  const text = `It becomes a model of its own. ${NAME_RULE}`;
  const chosen = await ask({ title: `Import ${file.name}`, text, field: "Name", value: suggested, yes: "Import", check: nameProblem });
  if (!chosen) return;
  await fresh(async () => {
    await api.import(chosen.value, file);
    await openModel(chosen.value);
    notice(`Imported ${chosen.value}.`);
    lookAgain();
  });
}

function save(blob, name) {
  const link = make("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function showModels() {
  const { models, model } = state;
  at("model").replaceChildren(...models.map(({ name }) => Object.assign(make("option", "", name), { value: name })));
  at("model").value = model;
  at("model").disabled = !model;
  at("download").disabled = at("download-onnx").disabled = !model;
  document.title = model ? `${model} · i2cansay` : "i2cansay · teach it";
}

function showCsv() {
  at("csv").disabled = !tray.all().some(({ prediction }) => prediction);
}

function onMenu(id, act) {
  at(id).addEventListener("click", () => {
    at("menu").open = false;
    at("menu").querySelector("summary").focus();
    act();
  });
}

export function showModelMenu() {
  watch(["models", "model"], showModels);
  watchTray(showCsv);
  showCsv();
  onMenu("new-model", newModel);
  onMenu("import-model", () => at("import-file").click());
  onMenu("download-onnx", () => fresh(async () => save(await api.export(state.model, "onnx"), `${state.model}.onnx`)));
  onMenu("download", () => fresh(async () => save(await api.export(state.model), `${state.model}.i2cs`)));
  onMenu("csv", () => save(new Blob([predictionsAsCsv(tray.all())], { type: "text/csv" }), `${state.model}-predictions.csv`));
  at("import-file").addEventListener("change", () => {
    const [file] = at("import-file").files;
    at("import-file").value = "";
    if (file) importModel(file);
  });
  at("model").addEventListener("change", () =>
    fresh(async () => {
      await openModel(at("model").value);
      await lookAgain();
    }),
  );
  document.addEventListener("click", (event) => {
    if (!event.target.closest("#menu")) at("menu").open = false;
  });
  at("menu").addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    at("menu").open = false;
    at("menu").querySelector("summary").focus();
  });
}

/** Open the model of the address, or the one that was used last. */
export function begin() {
  return attempt(() => openModel(decodeURIComponent(location.hash.slice(1))));
}
