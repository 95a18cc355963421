// The predictions as a table for a spreadsheet.

const COLUMNS = ["file", "label", "probability", "verdict", "possible", "second", "second probability"];

/** One cell. A spreadsheet would run a cell that begins as a formula, so it gets an apostrophe. */
export function cell(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The table of the images that have an answer. */
export function predictionsAsCsv(images) {
  const lines = images
    .filter(({ prediction }) => prediction)
    .sort((a, b) => a.number - b.number)
    .map(({ file, prediction: { label, probability, verdict, set, top } }) => {
      const second = top[1] ?? { label: "", probability: 0 };
      const possible = set.join(" | ");
      return [file.name, label, probability.toFixed(4), verdict, possible, second.label, second.probability.toFixed(4)];
    });
  return [COLUMNS, ...lines].map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
}
