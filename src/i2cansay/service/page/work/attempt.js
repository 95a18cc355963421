// Work that may fail: the error is said, a token is asked for where one is needed, and it can be tried again.

import { rememberToken } from "../state/api.js";
import { ask } from "../view/dialog.js";
import { complain, hush } from "../view/overlay.js";

let asking = null;

/** Ask for a token, once for all who need it now. Resolves to whether one was given. */
export function askForToken() {
  asking ??= ask({
    title: "This service asks for a token",
    text: "It is kept until you close this tab.",
    field: "Token",
    yes: "Continue",
    type: "password",
    blank: "Paste the token first.",
  }).then((given) => {
    asking = null;
    if (given) rememberToken(given.value);
    return Boolean(given);
  });
  return asking;
}

/**
 * Do some work. Resolves to what it gives, or to undefined where it failed. After an outage "Try again" does the work
 * once more, so work that has several parts goes on where it stopped.
 */
export async function attempt(work) {
  try {
    const done = await work();
    return done;
  } catch (error) {
    if (error.status === 401 && (await askForToken())) return attempt(work);
    const passing = error.code === "lost" || error.status === 429 || error.status >= 500;
    complain(error, passing ? () => attempt(work) : null);
    return undefined;
  }
}

/** The same for what a person has just asked for: the last error is out of date. */
export function fresh(work) {
  hush();
  return attempt(work);
}
