// Text from a cluster is shown, never interpreted: what would act on a terminal or on the direction of the line is made visible.

const ACTIVE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]/g;
const LONGEST = 400;

/** The text with control characters and marks of direction as codes, and no longer than a person reads. */
export function visible(text, longest = LONGEST) {
  const all = String(text ?? "");
  const head = all.slice(0, longest).replace(/[\ud800-\udbff]$/, "");
  const shown = head.replace(ACTIVE, (mark) => `\u27e8${mark.codePointAt(0).toString(16).padStart(4, "0")}\u27e9`);
  return all.length > longest ? `${shown}\u2026 (${all.length.toLocaleString("en")} characters)` : shown;
}

/** Seconds as people say them: 5 ms, 1.25 s, 2 min 5 s. */
export function duration(seconds) {
  if (seconds < 1) return `${Number((seconds * 1000).toPrecision(3))} ms`;
  if (seconds < 100) return `${Number(seconds.toPrecision(3))} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** A number with its noun. */
export const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** The first of the names, and how many there are besides. */
export const some = (names, most) => names.slice(0, most).join(", ") + (names.length > most ? ` and ${names.length - most} more` : "");
