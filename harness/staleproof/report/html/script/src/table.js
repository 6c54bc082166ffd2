// The entries of a timeline as a table, for whoever cannot see the canvas, or wants to copy. The first thousand; a filter finds the others.
import { el, told } from "./dom.js";
import { duration } from "./text.js";

const MOST = 1000;

/** `{element, show(marks), mark(mark)}`; `onChoose(mark)`. */
export function table(onChoose) {
  const body = el("tbody");
  const more = el("p", { class: "dim" });
  const head = el("thead", {}, el("tr", {}, ["time", "line", "kind", "what"].map((name) => el("th", { scope: "col" }, name))));
  const rows = new Map();

  function row(mark) {
    const cell = el("button", { type: "button", class: "link", click: () => onChoose(mark) }, told(mark.text));
    const made = el("tr", {}, el("td", { class: "number" }, duration(mark.at)), el("td", {}, mark.witness ? String(mark.witness) : ""), el("td", {}, mark.kind), el("td", {}, cell));
    made.addEventListener("keydown", (event) => {
      const next = { ArrowDown: made.nextElementSibling, ArrowUp: made.previousElementSibling }[event.key];
      if (!next) return;
      event.preventDefault();
      next.querySelector("button").focus();
    });
    rows.set(mark, made);
    return made;
  }

  return {
    element: el("div", { class: "scroll", tabindex: "0" }, el("table", {}, head, body), more),
    show(marks) {
      rows.clear();
      body.replaceChildren(...marks.slice(0, MOST).map(row));
      more.textContent = marks.length > MOST ? `and ${(marks.length - MOST).toLocaleString("en")} more: filter by name or kind to see them` : "";
    },
    mark(mark) {
      for (const each of body.querySelectorAll("[aria-current]")) each.removeAttribute("aria-current");
      rows.get(mark)?.setAttribute("aria-current", "true");
    },
  };
}
