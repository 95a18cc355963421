// Lessons as a person taught them: the parts of a folder are one, and each of its classes can be changed on its own.

/**
 * @typedef {object} Group
 * @property {string[]} ids of its lessons, the oldest first
 * @property {number} n images
 * @property {number} at when its last lesson was taught
 * @property {number} until when the first of its lessons can no longer be changed
 * @property {boolean} own
 * @property {string} who
 * @property {{label: string, n: number, ids: string[], reason: string}[]} classes the largest first; reason: why its
 *   images cannot be taken back now
 */

/**
 * Put lessons of one series together.
 * @param {object[]} lessons as the service lists them, the newest first
 * @returns {Group[]}
 */
export function groupsOf(lessons) {
  const groups = new Map();
  lessons.forEach((lesson) => {
    // What somebody else has moved is told apart.
    const key = lesson.series ? JSON.stringify([lesson.series, lesson.own, lesson.who]) : lesson.id;
    groups.set(key, [...(groups.get(key) ?? []), lesson]);
  });
  return [...groups.values()].map(groupOf);
}

function groupOf(lessons) {
  const oldestFirst = [...lessons].reverse();
  const labels = [...new Set(oldestFirst.flatMap((lesson) => Object.keys(lesson.labels)))];
  const classes = labels.map((label) => {
    const mine = oldestFirst.filter((lesson) => Object.hasOwn(lesson.labels, label));
    const n = mine.reduce((sum, lesson) => sum + lesson.labels[label], 0);
    // The newest is taken back first, so what stands against it stands against all.
    return { label, n, ids: mine.map(({ id }) => id), reason: mine.at(-1).reasons[label] ?? "" };
  });
  return {
    ids: oldestFirst.map(({ id }) => id),
    n: lessons.reduce((sum, { n }) => sum + n, 0),
    at: Math.max(...lessons.map(({ at }) => at)),
    until: Math.min(...lessons.map(({ until }) => until)),
    own: lessons[0].own,
    who: lessons[0].who,
    classes: classes.sort((a, b) => b.n - a.n || (a.label < b.label ? -1 : 1)),
  };
}
