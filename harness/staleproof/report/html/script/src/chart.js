// The timeline that one can move: a canvas with an axis above it, and a table of the same entries beside it.
import { axisTop } from "d3-axis";
import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { zoom, zoomIdentity } from "d3-zoom";
import { WAYS, clock } from "./clock.js";
import { el } from "./dom.js";
import { AXIS, layout, offset } from "./layout.js";
import { KINDS, marks } from "./marks.js";
import { paint, palette } from "./paint.js";
import { table } from "./table.js";
import { duration, visible } from "./text.js";

const NARROW = 640;
const NEAR = 12; // pixels
const WAY_NAMES = { cut: "idle gaps cut", linear: "by the clock", order: "by order" };

/** An element with the timeline in it. `onWitness(line)` is called when an entry of the story is chosen. */
export function chart(timeline, onWitness = () => {}) {
  const all = marks(timeline);
  const state = { way: "cut", hidden: new Set(["read"]), find: "", open: firstOpen(timeline, all), selected: null, transform: zoomIdentity };
  const canvas = el("canvas", { tabindex: "0", role: "img", "aria-label": `Timeline of ${timeline.title}. The table below has the same entries; arrow keys go from one to the next.` });
  const axis = el("div", { class: "axis", "aria-hidden": "true" });
  const says = el("p", { class: "says", "aria-live": "polite" }, "Choose an entry to read what it says.");
  const stage = el("div", { class: "stage" }, axis, canvas);
  const leftOut = el("p", { class: "dim" });
  const revisions = new Map(all.filter((mark) => mark.kind === "truth").map((mark) => [mark.entry, mark]));
  const list = table((mark) => choose(mark, true));
  const svg = select(axis).append("svg");
  let view = null;

  const behaviour = zoom().scaleExtent([1, 5000]).filter(wanted).on("zoom", (event) => {
    state.transform = event.transform;
    draw();
  });
  select(canvas).call(behaviour).on("dblclick.zoom", null);

  const shows = (kind) => !state.hidden.has(kind);
  const isFound = (text) => !state.find || text.toLowerCase().includes(state.find);
  const kept = () => all.filter((mark) => shows(mark.kind) && isFound(mark.text));

  function measure() {
    const width = Math.max(300, stage.clientWidth);
    const left = width < NARROW ? 92 : 190;
    const time = clock([0, ...all.flatMap((mark) => [mark.at, mark.until ?? mark.at]), timeline.seconds], state.way);
    for (const mark of all) mark.place = time.place(mark.at);
    const rows = layout(timeline, { open: state.open, shows, wanted: (object) => isFound(object.name) || isFound(object.uid) });
    const flat = scaleLinear([0, 1], [left + 14, width - 18]);
    behaviour.extent([[left + 14, 0], [width - 18, rows.height]]).translateExtent([[left + 14, 0], [width - 18, rows.height]]);
    view = { ...rows, timeline, revisions, marks: kept(), time, flat, left, width, gaps: time.gaps, selected: state.selected, colours: palette(stage) };
    const scale = window.devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = rows.height * scale;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${rows.height}px`;
    draw();
  }

  function draw() {
    const zoomed = state.transform.rescaleX(view.flat);
    view.zoomed = zoomed;
    view.x = (at) => zoomed(view.time.place(at));
    view.selected = state.selected;
    const pen = canvas.getContext("2d");
    const scale = window.devicePixelRatio || 1;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    const count = paint(pen, view);
    leftOut.textContent = count ? `${count.toLocaleString("en")} entries are too close to others to be drawn: zoom in, or read the table.` : "";
    drawAxis(svg, view, zoomed);
  }

  function refresh() {
    measure();
    list.show(view.marks);
  }

  function choose(mark, reveal = false) {
    state.selected = mark;
    says.replaceChildren(el("strong", {}, duration(mark.at)), " ", el("bdi", {}, visible(mark.text)), mark.witness ? ` (line ${mark.witness} of the story)` : "");
    list.mark(mark);
    if (mark.witness) onWitness(mark.witness);
    if (reveal) open(mark);
    measure();
    if (reveal) into(mark);
  }

  function open(mark) {
    if (mark.uid) state.open.add(mark.lane);
  }

  /** Bring an entry into sight. */
  function into(mark) {
    const x = view.x(mark.at);
    if (x < view.left + 20 || x > view.width - 20) select(canvas).call(behaviour.translateTo, view.flat(view.time.place(mark.at)), 0);
  }

  function fit(since, until) {
    const [a, b] = [since, until].map((at) => view.flat(view.time.place(at)));
    const [low, high] = view.flat.range();
    const factor = Math.min(5000, Math.max(1, (high - low) / Math.max(b - a, 1e-6) / 1.15));
    const middle = (a + b) / 2;
    select(canvas).call(behaviour.transform, zoomIdentity.translate((low + high) / 2, 0).scale(factor).translate(-middle, 0));
  }

  const whole = () => select(canvas).call(behaviour.transform, zoomIdentity);
  const deed = () => fit(...extent(timeline));
  const first = () => (timeline.tales.length ? deed() : whole());
  const by = (factor) => select(canvas).call(behaviour.scaleBy, factor);
  const along = (pixels) => select(canvas).call(behaviour.translateBy, pixels / state.transform.k, 0);

  function step(by) {
    const at = view.marks.indexOf(state.selected);
    const next = at < 0 ? (by > 0 ? 0 : view.marks.length - 1) : Math.min(view.marks.length - 1, Math.max(0, at + by));
    if (view.marks[next]) choose(view.marks[next], true);
  }

  const keys = {
    ArrowRight: () => step(1), ArrowLeft: () => step(-1), "+": () => by(1.5), "=": () => by(1.5), "-": () => by(1 / 1.5),
    0: whole, d: deed, h: () => along(120), l: () => along(-120), Home: () => step(-1e9), End: () => step(1e9),
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
  canvas.addEventListener("click", (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const row = view.rows.find((each) => y >= each.y && y < each.y + each.height);
    if (x < view.left && row?.kind === "lane") return toggle(row.label);
    const mark = nearest(view, x, y);
    if (mark) choose(mark);
  });
  canvas.addEventListener("pointermove", (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    const mark = event.pointerType === "mouse" && nearest(view, event.clientX - left, event.clientY - top);
    canvas.title = mark ? visible(`${duration(mark.at)}  ${mark.text}`) : "";
  });

  function toggle(lane) {
    if (!state.open.delete(lane)) state.open.add(lane);
    refresh();
  }

  const way = el("select", { "aria-label": "axis", change: () => ((state.way = way.value), refresh(), first()) }, WAYS.map((each) => el("option", { value: each }, WAY_NAMES[each])));
  const find = el("input", { type: "search", placeholder: "filter by name", "aria-label": "filter by name", input: () => ((state.find = find.value.trim().toLowerCase()), refresh()) });
  const button = (text, label, act) => el("button", { type: "button", title: label, "aria-label": label, click: act }, text);
  const kinds = Object.entries(KINDS).map(([kind, name]) => {
    const box = el("input", { type: "checkbox", checked: shows(kind), change: () => (box.checked ? state.hidden.delete(kind) : state.hidden.add(kind), refresh()) });
    return el("label", {}, box, name);
  });
  const lanes = timeline.lanes.map((lane) => button(lane.name, `show or hide the objects of ${lane.name}`, () => toggle(lane.name)));
  const tools = el("div", { class: "tools" },
    button("\u2212", "zoom out", () => by(1 / 1.5)), button("+", "zoom in", () => by(1.5)), button("whole trial", "show the whole trial", whole),
    timeline.tales.length ? button("the finding", "show what the story tells of", deed) : null, way, find,
    el("details", {}, el("summary", {}, "what is shown"), el("div", { class: "kinds" }, kinds, lanes)));
  const box = el("div", { class: "chart" }, tools, stage, leftOut, legend(), says,
    el("details", { class: "entries" }, el("summary", {}, `The same as a table: ${all.length.toLocaleString("en")} entries`), list.element));

  new ResizeObserver(() => view?.width !== Math.max(300, stage.clientWidth) && measure()).observe(stage);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) window.matchMedia(query).addEventListener("change", measure);
  return {
    element: box,
    begin: () => (refresh(), first()),
    tell: (line) => {
      const mark = all.find((each) => each.witness === line);
      if (mark) choose(mark, true);
    },
  };
}

/** Wheels scroll the page unless a key is held; a drag moves the time. */
function wanted(event) {
  return event.type === "wheel" ? event.ctrlKey || event.metaKey || event.shiftKey : !event.button;
}

function nearest(view, x, y) {
  let [best, least] = [null, NEAR];
  for (const mark of view.marks) {
    const row = view.rowOf(mark);
    if (!row || y < row.y || y > row.y + row.height || x < view.left) continue;
    const reach = mark.kind === "fault" ? Math.max(0, view.x(mark.at) - x, x - view.x(mark.until ?? view.timeline.seconds)) : Math.hypot(view.x(mark.at) - x, (row.y + offset(mark, row) - y) / 2);
    if (reach < least) [best, least] = [mark, reach];
  }
  return best;
}

/** Lanes whose objects are shown at first: those that the story tells of; of a long one nothing. */
function firstOpen(timeline, all) {
  const told = new Set(all.filter((mark) => mark.witness).map((mark) => mark.lane));
  return new Set(timeline.lanes.filter((lane) => told.has(lane.name) && lane.objects.length <= 30).map((lane) => lane.name));
}

/** What the story tells of, with the faults that were open meanwhile. */
function extent(timeline) {
  const lines = timeline.tales[0].lines.map((line) => line.at);
  const [first, last] = [Math.min(...lines), Math.max(...lines)];
  const open = timeline.bands.filter((band) => band.since <= last && (band.until ?? timeline.seconds) >= first);
  return [Math.min(first, ...open.map((band) => band.since)), Math.max(last, ...open.map((band) => band.until ?? timeline.seconds))];
}

function drawAxis(svg, view, zoomed) {
  const [low, high] = zoomed.domain();
  const ticks = [];
  for (const at of candidates(view, low, high)) {
    const x = view.x(at);
    if (x > view.left + 4 && (!ticks.length || x - view.x(ticks.at(-1)) > 64)) ticks.push(at);
  }
  const steps = ticks.map((at) => view.time.place(at));
  svg.attr("width", view.width).attr("height", AXIS).selectAll("g").data([0]).join("g").attr("transform", `translate(0,${AXIS - 2})`)
    .call(axisTop(zoomed).tickValues(steps).tickFormat((_, i) => label(ticks[i])).tickSizeOuter(0));
}

const label = (at) => (at < 60 ? `${Number(at.toFixed(3))} s` : `${Math.floor(at / 60)}:${(at % 60).toFixed(1).padStart(4, "0")}`);

/** Round times between the cuts, and the times behind them. */
function candidates(view, low, high) {
  const [from, to] = [view.time.moment(low), view.time.moment(high)];
  const edges = [from, ...view.gaps.flatMap((gap) => [gap.from, gap.to]).filter((at) => at > from && at < to), to];
  const parts = edges.slice(1).map((at, i) => [edges[i], at]).filter(([a, b]) => !view.gaps.some((gap) => a >= gap.from && b <= gap.to));
  return parts.flatMap(([a, b]) => {
    const room = Math.floor((view.x(b) - view.x(a)) / 75);
    const round = room < 1 ? [] : scaleLinear([a, b], [0, 1]).ticks(room);
    return round.length ? round : [a];
  }).sort((a, b) => a - b);
}

function legend() {
  const item = (sign, text) => el("li", {}, el("span", { class: `sign ${sign}`, "aria-hidden": "true" }), text);
  return el("ul", { class: "legend" },
    item("truth", "above: what was true"), item("shown", "below: what it had been shown"), item("stale", "shaded: true, and not shown"), item("hold", "a fault"),
    item("own", "\u25c6 \u25bc the controller's write (\u25bd: nothing changed)"), item("other", "\u25cf somebody else's"), item("plain", "\u2502 frame  \u25a1 list  \u25b3 GET  \u25cb answer  \u2715 gone, rejected"));
}
