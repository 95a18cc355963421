// Files that come in: which are images, and which class their folder says.

const ENDINGS = /\.(png|jpe?g|jfif|webp|gif|bmp|tiff?)$/i;
/** Files that systems leave in folders; nobody wants to hear of them. */
const LITTER = /^(\.|Thumbs\.db$|desktop\.ini$|__MACOSX)/i;

/**
 * @typedef {object} Found a file and where it lay
 * @property {File} file
 * @property {string[]} folders from the outermost to the one that holds it
 */

export function isImage(file) {
  return file.type.startsWith("image/") || ENDINGS.test(file.name);
}

/** Part files into images and others; what systems leave in folders is in neither. */
export function sorted(found) {
  const wanted = found.filter(({ file, folders }) => ![...folders, file.name].some((name) => LITTER.test(name)));
  return {
    images: wanted.filter(({ file }) => isImage(file)),
    others: wanted.filter(({ file }) => !isImage(file)).map(({ file }) => file),
  };
}

/** Name files in a sentence, the first few of them. */
export function named(files, most = 3) {
  const names = files.slice(0, most).map(({ name }) => name);
  if (files.length > most) return `${names.join(", ")} and ${files.length - most} more`;
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names.join("");
}

/** Files of an input. Those of a folder know their path. */
export function ofInput(files) {
  return [...files].map((file) => ({ file, folders: (file.webkitRelativePath || "").split("/").slice(0, -1) }));
}

/** Files of a drop; folders are walked through. The entries must be taken before the first wait. */
export async function ofDrop(transfer) {
  const entries = [...transfer.items].filter(({ kind }) => kind === "file").map((item) => item.webkitGetAsEntry?.());
  if (!entries.length || entries.some((entry) => !entry)) return ofInput(transfer.files);
  return (await Promise.all(entries.map((entry) => walk(entry, [])))).flat();
}

async function walk(entry, folders) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ file, folders }];
  }
  const reader = entry.createReader();
  const inside = [];
  for (;;) {
    // A reader gives a hundred entries at a time.
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    inside.push(...some);
  }
  return (await Promise.all(inside.map((each) => walk(each, [...folders, entry.name])))).flat();
}

/**
 * Group images by the folder that holds them. The outermost folder, where all came from, is no class unless it is the
 * only one.
 * @param {Found[]} images
 * @returns {{classes: {label: string, files: File[], places: string[]}[], loose: File[]}}
 */
export function classesOf(images) {
  const outermost = new Set(images.map(({ folders }) => folders[0] ?? ""));
  const deep = images.some(({ folders }) => folders.length > 1);
  const drop = deep && outermost.size === 1 ? 1 : 0;
  const groups = new Map();
  const loose = [];
  images.forEach(({ file, folders }) => {
    const inner = folders.slice(drop);
    if (!inner.length) return loose.push(file);
    const label = inner.at(-1).normalize("NFC").trim();
    if (!groups.has(label)) groups.set(label, { label, files: [], places: [] });
    const group = groups.get(label);
    group.files.push(file);
    const place = inner.join("/");
    if (!group.places.includes(place)) group.places.push(place);
    return undefined;
  });
  const classes = [...groups.values()].sort((a, b) => (a.label < b.label ? -1 : 1));
  return { classes, loose };
}
