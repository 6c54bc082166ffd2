// The entries of a timeline as a table, for readers who cannot see the canvas. Only the rows in sight are in the document.
import { el, told } from "./dom.js";
import { duration } from "./text.js";

const HEIGHT = 28; // pixels of a row, as in the styles
const MORE = 10; // rows above and below what is in sight
const COLUMNS = ["time", "line", "kind", "what"];
const PAGE = 15;

/** `{element, show(marks), mark(mark), draw()}`; `onChoose(mark)`. */
export function table(onChoose) {
  const body = el("div", { role: "rowgroup", class: "rows" });
  const head = el("div", { role: "rowgroup", class: "head" }, el("div", { role: "row", class: "row", "aria-rowindex": "1" }, COLUMNS.map((name) => el("span", { role: "columnheader" }, name))));
  const element = el("div", { class: "virtual", role: "grid", "aria-label": "entries of the timeline", tabindex: "0" }, head, body);
  let marks = [];
  let chosen = -1;

  function row(mark, n) {
    const made = el("div", { role: "row", class: "row", "aria-rowindex": String(n + 2), "aria-selected": String(n === chosen), tabindex: n === chosen ? "0" : "-1", click: () => onChoose(mark) },
      el("span", { role: "gridcell", class: "number" }, duration(mark.at)), el("span", { role: "gridcell" }, mark.witness ? String(mark.witness) : ""),
      el("span", { role: "gridcell" }, mark.kind), el("span", { role: "gridcell", title: mark.text }, told(mark.text)));
    made.style.top = `${n * HEIGHT}px`;
    return made;
  }

  function draw() {
    const visible = Math.ceil((element.clientHeight || 400) / HEIGHT);
    const top = Math.min(Math.floor(element.scrollTop / HEIGHT), marks.length - visible); // a filter may have left fewer
    const from = Math.max(0, top - MORE);
    const to = Math.min(marks.length, from + visible + 2 * MORE);
    body.style.height = `${marks.length * HEIGHT}px`;
    const isFocused = body.contains(document.activeElement);
    body.replaceChildren(...marks.slice(from, to).map((mark, i) => row(mark, from + i)));
    if (isFocused) (body.querySelector('[aria-selected="true"]') ?? element).focus({ preventScroll: true });
  }

  function reveal() {
    const top = chosen * HEIGHT;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + 2 * HEIGHT > element.scrollTop + element.clientHeight) element.scrollTop = top - element.clientHeight + 2 * HEIGHT;
  }

  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE, Home: -Infinity, End: Infinity };
  element.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(steps, event.key) || !marks.length) return;
    event.preventDefault();
    const next = Math.min(marks.length - 1, Math.max(0, chosen + steps[event.key]));
    onChoose(marks[next]);
    draw();
    body.querySelector('[aria-selected="true"]')?.focus({ preventScroll: true });
  });
  element.addEventListener("scroll", draw);

  return {
    element,
    draw,
    show(every) {
      const mark = marks[chosen];
      marks = every;
      chosen = mark ? marks.indexOf(mark) : -1;
      element.setAttribute("aria-rowcount", String(marks.length + 1));
      if (element.clientHeight) draw();
    },
    mark(mark) {
      chosen = marks.indexOf(mark);
      if (!element.clientHeight || chosen < 0) return;
      reveal();
      draw();
    },
  };
}
