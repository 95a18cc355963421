// The images of the last lessons of this tab: when a lesson is taken back, they come back into the tray.

const MOST = 500;
/** @type {Map<string, {file: File, label: string}[]>} by lesson, the oldest first */
const lessons = new Map();

/** Keep the images of a lesson at hand; the oldest lessons make room. */
export function keepImages(lesson, pairs) {
  lessons.set(lesson, pairs.map(({ file, label }) => ({ file, label })));
  let total = [...lessons.values()].flat().length;
  for (const [oldest, images] of lessons) {
    if (total <= MOST) break;
    lessons.delete(oldest);
    total -= images.length;
  }
}

/** Let go of the images of a lesson, or of one class of it, and return their files. */
export function releaseImages(lesson, only = null) {
  const images = lessons.get(lesson) ?? [];
  const leaving = images.filter(({ label }) => only === null || label === only);
  if (leaving.length < images.length) lessons.set(lesson, images.filter((each) => !leaving.includes(each)));
  else lessons.delete(lesson);
  return leaving.map(({ file }) => file);
}

/** Images of a class have another label now: those of one lesson, or of all. */
export function relabelImages(only, label, lesson = null) {
  const concerned = lesson === null ? [...lessons.values()].flat() : lessons.get(lesson) ?? [];
  concerned.filter((each) => only === null || each.label === only).forEach((each) => Object.assign(each, { label }));
}
