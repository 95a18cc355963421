// What floats above the page, in sight however far it is scrolled: errors, notices, and work under way.

import { Refusal } from "../state/api.js";
import { change, state, watch } from "../state/store.js";
import { at, button, capital, make } from "./element.js";

const SHORT = 6000;
const LONG = 20000;
let timer = 0;
/** What "Try again" does now. */
let again = null;

/** Say what went wrong, until it is closed or something works; `retry` tries the same again. */
export function complain(error, retry = null) {
  const sentence = error instanceof Refusal ? error.message : `Something went wrong on this page: ${error.message}`;
  at("trouble-text").textContent = capital(sentence);
  again = retry;
  const close = button("×", hush, { kind: "close", name: "Close this message" });
  at("trouble-acts").replaceChildren(...(retry ? [button("Try again", tryAgain)] : []), close);
  at("trouble").dataset.code = error.code ?? "";
  at("trouble").hidden = false;
}

/** Do what failed once more: a person wants it, or the service is back. */
export function tryAgain() {
  const work = again;
  hush();
  return work?.();
}

export function hush() {
  again = null;
  at("trouble").hidden = true;
  at("trouble-text").textContent = "";
  at("trouble-acts").replaceChildren();
}

/** Say that something is done, for a while, with one thing to do about it. */
export function notice(sentence, action = "", act = null, stay = action ? LONG : SHORT) {
  const line = make("p");
  line.append(make("span", "", sentence));
  const end = () => line.remove();
  if (action) {
    const does = button(action, () => {
      end();
      act();
    });
    line.append(does, button("×", end, { kind: "close", name: "Close this notice" }));
  }
  at("notice").replaceChildren(line);
  clearTimeout(timer);
  const wait = () => {
    // A person who is about to press the button keeps it.
    if (line.matches(":hover, :focus-within")) timer = setTimeout(wait, SHORT);
    else end();
  };
  timer = setTimeout(wait, stay);
}

/**
 * Show work of many steps; a person can stop it between two. Work that begins later takes the place: `replaced` says so.
 * @param {"look" | "teach" | "test"} kind
 */
export function startJob(kind, words, total) {
  let stopped = false;
  let mine = null;
  const show = (facts) => {
    const ours = mine === null || state.job === mine;
    if (!ours) return;
    mine = { kind, words, total, stop, ...facts };
    change({ job: mine });
  };
  const stop = () => {
    stopped = true;
    show({ done: state.job.done, words: "Stopping after this part…", stop: null });
  };
  show({ done: 0 });
  return {
    step: (done) => !stopped && show({ done }),
    stopped: () => stopped,
    replaced: () => state.job !== mine,
    end: () => state.job === mine && change({ job: null }),
  };
}

export function showJobs() {
  at("job-stop").addEventListener("click", () => state.job?.stop?.());
  watch(["job"], () => {
    const { job } = state;
    at("job").hidden = !job;
    if (!job) return;
    at("job-words").textContent = job.words;
    at("job-count").textContent = `${job.done} of ${job.total}`;
    Object.assign(at("job-bar"), { max: job.total, value: job.done });
    at("job-stop").disabled = !job.stop;
  });
}
