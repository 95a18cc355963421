// The HTTP API, with errors as sentences and retries that count once.

import { change } from "./store.js";

const TOKEN = "i2cansay-token";

export class Refusal extends Error {
  constructor(status, code, sentence) {
    super(sentence);
    this.status = status;
    this.code = code;
  }
}

export function rememberToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

/** A key that lets a lesson be sent again and count once. */
export function newKey() {
  // crypto.randomUUID is missing on plain HTTP from another machine.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function once(method, path, body, headers) {
  const token = sessionStorage.getItem(TOKEN);
  const sent = { ...headers };
  if (token) sent.authorization = `Bearer ${token}`;
  if (body instanceof Blob) {
    sent["content-type"] = "application/octet-stream";
  } else if (body !== undefined && !(body instanceof FormData)) {
    sent["content-type"] = "application/json";
    body = JSON.stringify(body);
  }
  const answer = await fetch(path, { method, body, headers: sent });
  if (answer.ok || answer.status === 304) return answer;
  let content = {};
  try {
    content = await answer.json();
  } catch {
    // a proxy may have answered with something else
  }
  const refusal = new Refusal(answer.status, content.code, content.detail || `The service answered ${answer.status}.`);
  refusal.retryAfter = Number(answer.headers.get("retry-after")) || 0;
  throw refusal;
}

async function send(method, path, body, headers = {}) {
  for (let left = 3; ; left -= 1) {
    try {
      const answer = await once(method, path, body, headers);
      change({ reachable: true });
      return answer;
    } catch (error) {
      const busy = error instanceof Refusal && error.status === 429;
      const lost = !(error instanceof Refusal);
      if (left === 0 || !(busy || lost)) {
        change({ reachable: !lost });
        throw lost ? new Refusal(0, "lost", "The service cannot be reached. Is it running?") : error;
      }
      await pause(busy ? 1000 * Math.min(error.retryAfter || 1, 5) : 400);
    }
  }
}

async function json(method, path, body, headers) {
  return (await send(method, path, body, headers)).json();
}

function place(model, rest) {
  return `/v1/models/${encodeURIComponent(model)}${rest}`;
}

function form(images, fields) {
  const data = new FormData();
  // Every image gets the same name: the service must not see file names.
  images.forEach((image) => data.append("images", image, "image"));
  Object.entries(fields).forEach(([name, value]) => [value].flat().forEach((each) => data.append(name, each)));
  return data;
}

export const api = {
  models: () => json("GET", "/v1/models"),
  describe: (model) => json("GET", place(model, "")),
  /** Whether a model is still at a revision; cheap, so that it can be asked often. */
  unchanged: async (model, revision) => (await send("GET", place(model, ""), undefined, { "if-none-match": `"${revision}"` })).status === 304,
  choices: async () => (await json("GET", "/v1/choices")).choices,
  create: (name, learner) => json("POST", "/v1/models", { name, learner }),
  import: (name, file) => json("POST", place(name, "/import"), file),
  export: async (model, format = "i2cs") => (await send("GET", place(model, `/export?format=${format}`))).blob(),
  classes: async (model) => (await json("GET", place(model, "/classes"))).classes,
  accuracy: (model) => json("GET", place(model, "/accuracy")),
  predict: (model, images) => json("POST", place(model, "/predict"), form(images, { top: 3 })),
  /** Lessons of one series were taught together. */
  learn: (model, images, labels, key = newKey(), series = "") =>
    json("POST", place(model, series ? `/learn?series=${series}` : "/learn"), form(images, { labels }), { "idempotency-key": key }),
  confusion: (model) => json("GET", place(model, "/confusion")),
  map: (model) => json("GET", place(model, "/map")),
  lessons: (model) => json("GET", place(model, "/lessons")),
  move: (model, lesson, label, only = null) =>
    json("POST", place(model, `/lessons/${encodeURIComponent(lesson)}/move`), { label, only }),
  test: (model, images, labels) => json("POST", place(model, "/test"), form(images, { labels })),
  undo: (model, lesson, only = null) => json("POST", place(model, "/undo"), { lesson, only }),
  forget: (model, label) => json("POST", place(model, "/classes/forget"), { label }),
  rename: (model, label, newLabel) => json("POST", place(model, "/classes/rename"), { label, new_label: newLabel }),
};
