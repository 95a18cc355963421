// The page: a person shows images, the model predicts them, and the person says what they are.

import { Refusal, api, rememberToken } from "./api.js";
import { drawAccuracy, percent } from "./chart.js";
import { ask } from "./dialog.js";
import { make, many } from "./element.js";
import { answer, say } from "./verdict.js";

const AT_ONCE = 8;
const at = (id) => document.getElementById(id);
const images = []; // { file, url, element, prediction }
let model = "";
let canUndo = true;
let minSamples = 2;
let knowsSomething = false;

// -- messages --------------------------------------------------------------------------------------------------

function complain(error) {
  const sentence = error instanceof Refusal ? error.message : `Something went wrong on this page: ${error.message}`;
  at("trouble").textContent = sentence.charAt(0).toUpperCase() + sentence.slice(1);
  at("trouble").hidden = false;
}

function notice(sentence, action, act) {
  const line = make("p", "", sentence);
  if (action) {
    const button = make("button", "", action);
    button.type = "button";
    button.addEventListener("click", act, { once: true });
    line.append(button);
  }
  at("notice").replaceChildren(line);
  clearTimeout(notice.timer);
  notice.timer = setTimeout(() => at("notice").replaceChildren(), action ? 20000 : 6000);
}

// Run something that may fail: show the error, and ask for a token where one is needed.
async function attempt(work) {
  at("trouble").hidden = true;
  try {
    return await work();
  } catch (error) {
    if (error.status === 401 && (await askForToken())) return attempt(work);
    complain(error);
    return undefined;
  }
}

async function askForToken() {
  const token = await ask({
    title: "This service asks for a token",
    text: "It is kept until you close this tab.",
    field: "Token",
    yes: "Continue",
    type: "password",
  });
  if (token) rememberToken(token.value);
  return Boolean(token);
}

// -- images --------------------------------------------------------------------------------------------------

function add(files) {
  const chosen = [...files].filter((file) => file.type.startsWith("image/"));
  if (!chosen.length) {
    if (files.length) complain(new Refusal(0, "", "These are not images. Use PNG, JPEG, WebP, GIF, BMP or TIFF."));
    return;
  }
  at("trouble").hidden = true;
  const added = chosen.map((file, index) => {
    const image = { file, url: URL.createObjectURL(file), element: make("li", "image waiting") };
    const name = `image ${images.length + index + 1}`;
    const preview = make("img");
    preview.src = image.url;
    preview.alt = "";
    image.pick = act("Teach", name, () => pick(image), "pick");
    image.pick.replaceChildren(preview);
    image.pick.title = "Click to leave it out or to include it again";
    const remove = act("Remove", name, () => drop([image]), "quiet remove");
    remove.textContent = "×";
    image.answer = make("div");
    image.element.append(image.pick, image.answer, remove);
    image.pick.setAttribute("aria-pressed", "true");
    at("images").append(image.element);
    return image;
  });
  images.push(...added);
  showTray();
  look(added);
}

function pick(image) {
  image.pick.setAttribute("aria-pressed", String(!picked(image)));
  showTray();
}

function picked(image) {
  return image.pick.getAttribute("aria-pressed") === "true" && !image.element.classList.contains("bad");
}

function drop(gone) {
  gone.forEach((image) => {
    URL.revokeObjectURL(image.url);
    image.element.remove();
    images.splice(images.indexOf(image), 1);
  });
  showTray();
}

function showTray() {
  at("tray").hidden = images.length === 0;
  const label = at("label").value.trim();
  const count = images.filter(picked).length;
  at("teach-button").disabled = count === 0;
  at("teach-button").textContent = `Teach ${many(count)}${label ? ` as “${label}”` : ""}`;
  document.querySelectorAll("#known button").forEach((button) => {
    button.setAttribute("aria-pressed", String(button.textContent === label));
  });
}

function groups(list) {
  const result = [];
  for (let start = 0; start < list.length; start += AT_ONCE) result.push(list.slice(start, start + AT_ONCE));
  return result;
}

async function look(asked) {
  asked.forEach((image) => say(image, "waiting", "Looking…"));
  if (!knowsSomething) {
    asked.forEach((image) => say(image, "new", "The model knows nothing yet. Say what this is.", "Looks new"));
    return;
  }
  for (const group of groups(asked)) await lookAt(group);
}

async function lookAt(group) {
  try {
    const { predictions, tested } = await api.predict(model, group.map((image) => image.file));
    group.forEach((image, index) => answer(image, predictions[index], tested));
  } catch (error) {
    if (error.status === 422 && group.length > 1) {
      // One of them is not an image: send each alone, so that the others get their answer.
      for (const image of group) await lookAt([image]);
    } else if (error.status === 401 && (await askForToken())) {
      await lookAt(group);
    } else {
      const sentence = error instanceof Refusal ? error.message.replace(/^image 1: /, "") : error.message;
      group.forEach((image) => say(image, "bad", sentence.charAt(0).toUpperCase() + sentence.slice(1)));
      showTray();
    }
  }
}

// -- teaching --------------------------------------------------------------------------------------------------

async function teach(event) {
  event.preventDefault();
  const label = at("label").value.trim();
  const taught = images.filter(picked);
  if (!label || !taught.length) return;
  at("teach-button").disabled = true;
  await attempt(async () => {
    const lessons = [];
    for (const group of groups(taught)) {
      const lesson = await api.learn(model, group.map((image) => image.file), label);
      lessons.push(lesson);
      drop(group);
    }
    const count = lessons.at(-1).counts;
    const total = Object.values(count)[0];
    const name = Object.keys(count)[0];
    const waiting = lessons.at(-1).durable ? "" : ` It is kept in memory only: ${missing(total)}.`;
    notice(
      `Learnt ${many(taught.length)} of ${name}, ${total} in all.${waiting}`,
      canUndo ? "Undo" : "",
      () => undo(lessons),
    );
    at("label").value = "";
    await refresh();
    look([...images]);
  });
  showTray();
}

// What a class in memory needs to be saved. Copies of an image count once, so it may have enough and still wait.
function missing(count) {
  const more = minSamples - count;
  if (more === 1) return "one more image saves it";
  if (more > 1) return `${more} more images save it`;
  return `it needs ${minSamples} different images to be saved`;
}

function undo(lessons) {
  return attempt(async () => {
    for (const lesson of lessons.reverse()) await api.undo(model, lesson.lesson);
    notice("Taken back.");
    await refresh();
    look([...images]);
  });
}

// -- what it knows ---------------------------------------------------------------------------------------------

function ago(seconds) {
  const past = Date.now() / 1000 - seconds;
  const units = [["day", 86400], ["hour", 3600], ["minute", 60]];
  const [unit, size] = units.find(([, length]) => past >= length) || ["minute", 60];
  if (past < 60) return "just now";
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-Math.floor(past / size), unit);
}

async function refresh() {
  const [classes, accuracy] = await Promise.all([api.classes(model), api.accuracy(model)]);
  knowsSomething = classes.length > 0;
  const most = Math.max(1, ...classes.map((each) => each.count));
  at("classes").replaceChildren(...classes.map((each) => classLine(each, most)));
  const samples = classes.reduce((sum, each) => sum + each.count, 0);
  at("total").textContent = classes.length ? many(samples) : "";
  at("labels").replaceChildren(
    ...classes.map((each) => {
      const option = make("option");
      option.value = each.label;
      return option;
    }),
  );
  at("known").replaceChildren(...classes.slice(0, 12).map(({ label }) => {
    const button = make("button", "", label);
    button.type = "button";
    button.addEventListener("click", () => {
      at("label").value = label;
      showTray();
      at("teach-button").focus();
    });
    return button;
  }));
  at("recent").textContent = drawAccuracy(at("chart"), accuracy);
  showTray();
}

function classLine({ label, count, durable, last }, most) {
  const line = make("li");
  const about = make("div");
  about.append(make("span", "name", label), " ", make("span", "count", `${count}, ${ago(last)}`));
  if (!durable) {
    const tag = make("span", "tag memory", "in memory only");
    tag.title = `With so few images the file would reveal them, so the class is not saved yet: ${missing(count)}.`;
    about.append(" ", tag);
  }
  const bar = make("div", "bar");
  bar.style.setProperty("--share", percent(count / most));
  const acts = make("div", "acts");
  acts.append(
    act("Rename", label, () => rename(label)),
    act("Forget", label, () => forget(label, count)),
  );
  line.append(about, acts, bar);
  return line;
}

function act(name, label, work, kind = "quiet") {
  const button = make("button", kind, name);
  button.type = "button";
  button.setAttribute("aria-label", `${name} ${label}`);
  button.addEventListener("click", work);
  return button;
}

async function forget(label, count) {
  const text = `What it learnt from ${many(count)} will be gone. This cannot be undone.`;
  if (!(await ask({ title: `Forget “${label}”?`, text, yes: "Forget it", danger: true }))) return;
  await attempt(async () => {
    await api.forget(model, label);
    notice(`Forgot ${label}.`);
    await refresh();
    look([...images]);
  });
}

async function rename(label) {
  const answered = await ask({ title: `Rename “${label}”`, field: "New name", value: label, yes: "Rename" });
  if (!answered || answered.value === label) return;
  const name = answered.value;
  await attempt(async () => {
    await api.rename(model, label, name);
    notice(`${label} is now called ${name}.`);
    await refresh();
    look([...images]);
  });
}

// -- models ----------------------------------------------------------------------------------------------------

async function loadModels(chosen) {
  const { models, damaged } = await api.models();
  at("model").replaceChildren(...models.map(({ name }) => {
    const option = make("option", "", name);
    option.value = name;
    return option;
  }));
  const wanted = models.find(({ name }) => name === chosen) || models[0];
  model = wanted ? wanted.name : "";
  canUndo = wanted ? wanted.can_undo : false;
  minSamples = wanted ? wanted.min_samples : 2;
  at("model").value = model;
  at("model").disabled = !wanted;
  at("download").disabled = !wanted;
  history.replaceState(null, "", model ? `#${model}` : "/");
  if (damaged.length) {
    complain(new Refusal(503, "damaged", damaged.map(({ name, problem }) => `The model ${name} ${problem}.`).join(" ")));
  }
  if (wanted && wanted.read_only) {
    complain(new Refusal(507, "read_only", `Nothing can be taught: ${wanted.read_only}.`));
  }
  if (wanted) await refresh();
  else complain(new Refusal(404, "none", "There is no model yet. Make one with New…"));
}

async function newModel() {
  const choices = await attempt(api.choices);
  if (!choices) return;
  const text = "A name of small letters, digits, - and _.";
  const chosen = await ask({ title: "New model", text, field: "Name", choices, yes: "Make it" });
  if (!chosen) return;
  const { value: name, choice } = chosen;
  await attempt(async () => {
    await api.create(name, choice);
    await loadModels(name);
    notice(`Made ${name}.`);
    look([...images]);
  });
}

async function download() {
  await attempt(async () => {
    const link = make("a");
    link.href = URL.createObjectURL(await api.export(model));
    link.download = `${model}.i2cs`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}

// -- start -----------------------------------------------------------------------------------------------------

["choose", "photograph"].forEach((id) => {
  at(id).addEventListener("change", () => {
    add(at(id).files);
    at(id).value = "";
  });
});
document.addEventListener("paste", (event) => {
  if (event.clipboardData.files.length) add(event.clipboardData.files);
});
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  at("drop").classList.add("over");
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) at("drop").classList.remove("over");
});
document.addEventListener("drop", (event) => {
  event.preventDefault();
  at("drop").classList.remove("over");
  add(event.dataTransfer.files);
});
at("teach").addEventListener("submit", teach);
at("label").addEventListener("input", showTray);
at("clear").addEventListener("click", () => drop([...images]));
at("new-model").addEventListener("click", newModel);
at("download").addEventListener("click", download);
at("model").addEventListener("change", () =>
  attempt(async () => {
    await loadModels(at("model").value);
    look([...images]);
  }),
);

await attempt(() => loadModels(decodeURIComponent(location.hash.slice(1))));
document.body.dataset.ready = "yes";
