// What the browser remembers between visits. A browser may forbid it: then nothing is remembered.

const PREFIX = "i2cansay-";

/** Return what was remembered under a name, or what to use instead. */
export function recall(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Remember a value; null forgets it. */
export function remember(name, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // private windows of some browsers refuse
  }
}
