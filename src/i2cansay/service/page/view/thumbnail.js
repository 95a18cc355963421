// Small previews: five hundred photographs of a phone would not scroll.

const LARGE = 150_000; // bytes; smaller files are drawn as they are
const SIDE = 320;
const waiting = [];
let running = 0;

/** Show a file in an image element, reduced where it is large. A file the browser cannot draw says so. */
export function preview(element, { file, url }) {
  element.alt = "";
  element.decoding = "async";
  element.addEventListener("error", () => element.closest(".pick, .peek")?.classList.add("blank"), { once: true });
  if (file.size < LARGE || !globalThis.createImageBitmap) {
    element.src = url;
    return;
  }
  waiting.push({ element, file, url });
  next();
}

async function next() {
  if (running >= 2 || !waiting.length) return;
  running += 1;
  const { element, file, url } = waiting.shift();
  try {
    const whole = await createImageBitmap(file);
    const scale = Math.min(1, SIDE / Math.min(whole.width, whole.height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(whole.width * scale));
    canvas.height = Math.max(1, Math.round(whole.height * scale));
    canvas.getContext("2d").drawImage(whole, 0, 0, canvas.width, canvas.height);
    whole.close();
    const small = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.85));
    element.src = URL.createObjectURL(small);
    element.addEventListener("load", () => URL.revokeObjectURL(element.src), { once: true });
  } catch {
    element.src = url;
  }
  running -= 1;
  next();
}
