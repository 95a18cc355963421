// Labels that are probably meant to be the same: "Dent" beside "dent", "scrach" beside "scratch".

/** A label as it is heard: no case, no accents, no punctuation, no plural. */
export function heard(label) {
  const plain = label.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/[\s\p{P}]+/gu, "");
  return (plain || label.toLowerCase()).replace(/(?<=.{3})s$/u, "");
}

/** Whether one letter added, left out or changed makes one word of the other. */
export function oneLetterApart(a, b) {
  const [short, long] = [[...a], [...b]].sort((x, y) => x.length - y.length);
  if (long.length - short.length > 1) return false;
  let start = 0;
  while (start < short.length && short[start] === long[start]) start += 1;
  const rest = short.length === long.length ? start + 1 : start;
  return short.slice(rest).join("") === long.slice(start + 1).join("");
}

/** Whether two labels sound the same, so that they differ in their spelling alone. */
export function soundsLike(a, b) {
  return heard(a) === heard(b);
}

const hasDigit = (word) => /\p{N}/u.test(word);

/** The known label that a new one probably means, or "". A known label means itself. */
export function similar(label, known) {
  const name = label.normalize("NFC").trim();
  if (known.includes(name)) return "";
  const word = heard(name);
  const same = known.find((each) => heard(each) === word);
  if (same !== undefined) return same;
  // "bolt 1" and "bolt 2" are two things, and short words differ by one letter too often.
  if ([...word].length < 5 || hasDigit(word)) return "";
  return known.find((each) => !hasDigit(each) && oneLetterApart(heard(each), word)) ?? "";
}
