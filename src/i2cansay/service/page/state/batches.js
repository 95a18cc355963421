// Work in parts that the service takes at once and that a person can stop between.

const AT_ONCE = 16;
const BYTES_AT_ONCE = 24 * 2 ** 20;

/** Cut a list into parts of few items and few bytes. */
export function parts(items, sizeOf = ({ file }) => file.size) {
  const result = [];
  let bytes = Infinity;
  items.forEach((item) => {
    const size = sizeOf(item);
    if (bytes + size > BYTES_AT_ONCE || result.at(-1).length === AT_ONCE) {
      result.push([]);
      bytes = 0;
    }
    result.at(-1).push(item);
    bytes += size;
  });
  return result;
}

/** Deal out groups in turn, so that each class is met early and tested often. */
export function interleaved(groups) {
  const longest = Math.max(0, ...groups.map((group) => group.length));
  const result = [];
  for (let index = 0; index < longest; index += 1) {
    groups.forEach((group) => {
      if (index < group.length) result.push(group[index]);
    });
  }
  return result;
}
