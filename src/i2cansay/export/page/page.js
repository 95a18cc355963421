// Runs model.onnx in this browser; nothing leaves it.

import { square } from "./resample.js";

const RUNTIME = "./runtime/";
const SHOWN = 5;
const NAMED = 12;
const one = (selector) => document.querySelector(selector);
const MEANINGS = {
  sure: (model) => `Of answers called sure, at most ${percent(model.error)} are wrong, as long as it shows a known class.`,
  unsure: () => "A person should look at this one.",
  new: (model) => `It looks like no class that was taught; of known classes, at most ${percent(model.new_error)} do.`,
};

let model, runtime, session, camera = null;
let last = Promise.resolve(); // one image at a time

function percent(share) {
  return `${Number((100 * share).toFixed(1))}%`;
}

function trouble(sentence) {
  one("#trouble").textContent = sentence;
  one("#trouble").hidden = false;
}

function known(labels) {
  const more = labels.length - NAMED;
  const named = labels.slice(0, NAMED).join(", ");
  return `It knows ${labels.length === 1 ? "1 class" : `${labels.length} classes`}: ${named}${more > 0 ? `, and ${more} more` : ""}.`;
}

async function start() {
  model = await (await fetch("./model.json")).json();
  document.title = one("h1").textContent = model.title;
  one("#known").textContent = known(model.labels);
  try {
    runtime = await import(`${RUNTIME}ort.wasm.bundle.min.mjs`);
  } catch {
    trouble(`The folder runtime/ has no ONNX Runtime yet. ${model.how_to_get_runtime}`);
    return;
  }
  runtime.env.wasm.wasmPaths = { wasm: new URL(`${RUNTIME}ort-wasm-simd-threaded.wasm`, document.baseURI).href };
  runtime.env.wasm.numThreads = 1; // more need headers that a plain file server does not send
  session = await runtime.InferenceSession.create("./model.onnx");
  for (const control of document.querySelectorAll("button, input")) control.disabled = false;
  document.body.dataset.ready = "yes";
}

// What is drawn, as RGBA on white.
function pixelsOf(drawable, width, height) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillStyle = "white";
  context.fillRect(0, 0, width, height);
  context.drawImage(drawable, 0, 0, width, height);
  return context.getImageData(0, 0, width, height);
}

function answer(image) {
  last = last.catch(() => {}).then(() => answerNow(image));
  return last;
}

async function answerNow(image) {
  const pixels = square(image, model);
  showSquare(pixels);
  const began = performance.now();
  const given = new runtime.Tensor("uint8", pixels, [1, model.size, model.size, 3]);
  const { probabilities, verdict } = await session.run({ pixels: given });
  show(Array.from(probabilities.data), verdict.data[0], performance.now() - began);
}

function showSquare(pixels) {
  const canvas = one("#seen");
  canvas.width = canvas.height = model.size;
  const shown = new ImageData(model.size, model.size);
  for (let i = 0; i < model.size ** 2; i++) {
    shown.data.set([pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2], 255], 4 * i);
  }
  canvas.getContext("2d").putImageData(shown, 0, 0);
}

function show(probabilities, verdict, milliseconds) {
  const order = probabilities.map((_, i) => i).sort((i, j) => probabilities[j] - probabilities[i]);
  const result = one("#answer");
  result.className = verdict;
  one("#label").textContent = model.labels[order[0]];
  one("#verdict").textContent = verdict;
  one("#meaning").textContent = MEANINGS[verdict](model);
  one("#guesses").replaceChildren(...order.slice(0, SHOWN).map((i) => guess(model.labels[i], probabilities[i])));
  one("#time").textContent = `${Math.round(milliseconds)} ms in this browser`;
  result.hidden = false;
  result.dataset.answers = Number(result.dataset.answers ?? 0) + 1;
}

function guess(label, probability) {
  const item = document.createElement("li");
  item.style.setProperty("--share", probability);
  const name = document.createElement("span");
  name.textContent = label;
  const number = document.createElement("b");
  number.textContent = percent(probability);
  item.append(name, number);
  return item;
}

async function answerFile(file) {
  stopCamera();
  try {
    const bitmap = await createImageBitmap(file);
    await answer(pixelsOf(bitmap, bitmap.width, bitmap.height));
    one("#trouble").hidden = true;
  } catch (error) {
    trouble(error.name === "InvalidStateError" ? `${file.name} cannot be read as an image.` : String(error));
  }
}

async function followCamera() {
  camera = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  one("#trouble").hidden = true;
  one("#camera").textContent = "Stop the camera";
  const video = document.createElement("video");
  Object.assign(video, { srcObject: camera, muted: true, playsInline: true });
  await video.play();
  while (camera) {
    await answer(pixelsOf(video, video.videoWidth, video.videoHeight));
    await new Promise(requestAnimationFrame);
  }
}

async function startCamera() {
  try {
    await followCamera();
  } catch (error) {
    stopCamera();
    trouble(`The camera cannot be used: ${error.message}.`);
  }
}

function stopCamera() {
  camera?.getTracks().forEach((track) => track.stop());
  camera = null;
  one("#camera").textContent = "Use the camera";
}

one("#file").addEventListener("change", (event) => {
  if (event.target.files.length) answerFile(event.target.files[0]);
  event.target.value = ""; // the same file can be chosen again
});
one("#camera").addEventListener("click", () => (camera ? stopCamera() : startCamera()));
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  if (session && event.dataTransfer.files.length) answerFile(event.dataTransfer.files[0]);
});
start().catch((error) => trouble(`The model cannot be opened: ${error.message ?? error}`));
