// Elements and words of the page.

export function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

export function many(count, noun = "image") {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
