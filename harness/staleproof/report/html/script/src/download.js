// A file that is in the page.
import { el, told } from "./dom.js";

/** A button that saves it, or what to do where it is too large. */
export function download({ name, data }, trial) {
  if (data === null || data === undefined) return el("p", { class: "dim" }, `Its history is too large for this file: staleproof export ${trial} makes a file of it.`);
  const size = `${Math.max(1, Math.round((data.length * 0.75) / 1000)).toLocaleString("en")} kB`;
  return el("p", {}, el("button", { type: "button", class: "save", click: () => save(name, data) }, "Save ", told(name), ` (${size})`),
    el("span", { class: "dim" }, " Its history in one file: staleproof check and staleproof replay take it, with no run folder."));
}

function save(name, data) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const address = URL.createObjectURL(new Blob([bytes], { type: "application/gzip" }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
