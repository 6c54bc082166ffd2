// The timeline that one can move: a canvas with an axis above it, a table of the same entries, and a run without the faults beside it.
import { select } from "d3-selection";
import { scaleLinear } from "d3-scale";
import { zoom, zoomIdentity } from "d3-zoom";
import { aligned } from "./align.js";
import { AXIS, axis } from "./axis.js";
import { WAYS, clock } from "./clock.js";
import { el } from "./dom.js";
import { legend } from "./legend.js";
import { KINDS, marks } from "./marks.js";
import { paint, palette } from "./paint.js";
import { panel } from "./panel.js";
import { table } from "./table.js";
import { duration, visible } from "./text.js";

const NARROW = 640;
const LEAST_WIDTH = 300;
const DEEPEST = 50_000;
const BELOW = 20; // pixels: there it says how long the gaps are that were cut
const DRAWN = "timeline drawn"; // what a browser's own tools, and suites/bench, show
const WAY_NAMES = { cut: "idle gaps cut", linear: "by the clock", order: "by order" };
const OUTSIDE = new Set(["call", "look", "notice", "turn", "drift", "held"]);
const BESIDE = new Set(["title", "step", "write", "truth", "shown", "call", "turn", "drift", "held"]);

/** `{element, begin(), tell(line)}`. `reference`: a run without the faults, if there is one; `onWitness(line)` is called when an entry of
 * the story is chosen. */
export function chart(timeline, { reference, onWitness = () => {} } = {}) {
  const all = marks(timeline);
  const others = reference ? marks(reference) : [];
  const state = { way: "cut", hidden: new Set(["read", "look"]), find: "", open: firstOpen(timeline, all), selected: null, transform: zoomIdentity, beside: false };
  const canvas = el("canvas", { tabindex: "0", role: "application", "aria-label": `Timeline of ${timeline.title}. Arrow keys go from entry to entry; the table below has the same entries.` });
  const head = axis();
  const pinned = el("div", { class: "pinned" }, canvas, head.element);
  const content = el("div", {}, pinned);
  const stage = el("div", { class: "stage" }, content);
  const says = el("p", { class: "says", "aria-live": "polite" }, "Choose an entry to read what it says.");
  const leftOut = el("p", { class: "dim" });
  const list = table((mark) => choose(mark, true));
  let view = null;
  let asked = 0;

  const behaviour = zoom().scaleExtent([1, DEEPEST]).filter(wanted).on("zoom", (event) => {
    state.transform = event.transform;
    soon();
  });
  select(canvas).call(behaviour).on("dblclick.zoom", null);

  const shows = (kind) => !state.hidden.has(kind);
  const has = (text) => !state.find || text.toLowerCase().includes(state.find);
  const found = (mark) => has(mark.lane ?? "") || has(mark.text);
  const wantedObject = (object, lane) => has(lane.name) || has(object.name) || has(object.uid);

  /** Work out what does not change while one moves. */
  function measure() {
    const width = Math.max(LEAST_WIDTH, stage.clientWidth);
    const left = width < NARROW ? 92 : 190;
    const there = state.beside ? aligned(timeline, reference) : null;
    const time = clock([0, timeline.seconds, ...moments(all, (at) => at), ...(there ? moments(others, there) : [])], state.way);
    const common = { open: state.open, found, wanted: wantedObject };
    const panels = [panel(timeline, all, { ...common, top: AXIS, shows, place: time.place })];
    if (there) {
      const title = "beside it: a run without the faults, each step where the same step of the trial is";
      panels.push(panel(reference, others, { ...common, top: panels[0].bottom + 6, title, shows: (kind) => BESIDE.has(kind) && shows(kind), place: (at) => time.place(there(at)) }));
    }
    const total = panels.at(-1).bottom + BELOW;
    content.style.height = `${total}px`;
    const height = Math.min(total, stage.clientHeight || total);
    const flat = scaleLinear([0, 1], [left + 14, width - 18]);
    behaviour.extent([[left + 14, 0], [width - 18, height]]).translateExtent([[left + 14, 0], [width - 18, height]]);
    const gaps = { from: Float64Array.from(time.gaps, (gap) => time.place(gap.from)), to: Float64Array.from(time.gaps, (gap) => time.place(gap.to)), seconds: time.gaps.map((gap) => gap.to - gap.from) };
    const pen = canvas.getContext("2d");
    view = { panels, time, flat, left, width, height, gaps, colours: palette(stage, pen), isMain: (mark) => mark.timeline === timeline };
    const scale = window.devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    draw();
  }

  /** Once a frame, however often it is asked for. */
  function soon() {
    if (view) asked ||= requestAnimationFrame(draw);
  }

  function draw() {
    cancelAnimationFrame(asked);
    asked = 0;
    view.zoomed = state.transform.rescaleX(view.flat);
    view.selected = state.selected;
    view.scroll = stage.scrollTop;
    const pen = canvas.getContext("2d");
    const scale = window.devicePixelRatio || 1;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    const count = paint(pen, view);
    leftOut.textContent = count ? `${count === 1 ? "1 entry is" : `${count.toLocaleString("en")} entries are`} too close to others to be drawn: zoom in, or read the table.` : "";
    head.draw(view);
  }

  function refresh() {
    measure();
    list.show(view.panels[0].marks);
  }

  function choose(mark, reveal = false) {
    state.selected = mark;
    says.replaceChildren(el("strong", {}, duration(mark.at)), " ", el("bdi", {}, visible(mark.text)), mark.witness ? ` (line ${mark.witness} of the story)` : "");
    list.mark(mark);
    if (mark.witness) onWitness(mark.witness);
    if (reveal && mark.uid && !state.open.has(mark.lane)) {
      state.open.add(mark.lane);
      measure();
    }
    if (reveal) into(mark);
    soon();
  }

  /** Bring an entry into sight. */
  function into(mark) {
    const x = view.zoomed(mark.place);
    if (x < view.left + 20 || x > view.width - 20) select(canvas).call(behaviour.translateTo, view.flat(mark.place), 0);
    const row = view.panels[0].rowOf(mark);
    if (row && (row.y < stage.scrollTop + AXIS || row.y + row.height > stage.scrollTop + view.height - BELOW)) stage.scrollTop = row.y - view.height / 2;
  }

  /** `from` to `to`, as places. */
  function fit(from, to) {
    const [a, b] = [view.flat(from), view.flat(to)];
    const [low, high] = view.flat.range();
    const factor = Math.min(DEEPEST, Math.max(1, (high - low) / Math.max(b - a, 1e-6) / 1.15));
    const middle = (a + b) / 2;
    select(canvas).call(behaviour.transform, zoomIdentity.translate((low + high) / 2, 0).scale(factor).translate(-middle, 0));
  }

  const whole = () => select(canvas).call(behaviour.transform, zoomIdentity);
  const deed = () => (timeline.tales.length ? fit(...extent(timeline, view.time.place)) : whole());
  const by = (factor) => select(canvas).call(behaviour.scaleBy, factor);
  const along = (pixels) => select(canvas).call(behaviour.translateBy, pixels / state.transform.k, 0);

  function step(by) {
    const every = view.panels[0].marks;
    const at = every.indexOf(state.selected);
    const next = at < 0 ? (by > 0 ? 0 : every.length - 1) : Math.min(every.length - 1, Math.max(0, at + by));
    if (every[next]) choose(every[next], true);
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
  const pointed = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top + stage.scrollTop];
    return { x, row: view.panels.flatMap((each) => each.rows).find((row) => y >= row.y && y < row.y + row.height), mark: x < view.left ? null : nearest(x, y) };
  };
  const nearest = (x, y) => view.panels.map((each) => each.nearest(x, y, view.zoomed)).find(Boolean);
  canvas.addEventListener("click", (event) => {
    const { x, row, mark } = pointed(event);
    if (x < view.left && (row?.kind === "lane" || row?.kind === "system")) toggle(row.label);
    else if (mark) choose(mark);
    else if (row?.kind === "fault" || row?.kind === "steps") choose(lasting(row, x));
  });
  /** The fault of a row, or the step under a pixel. */
  const lasting = (row, x) => all.filter((mark) => (row.band ? mark.of === row.band : mark.kind === "step" && mark.place <= view.zoomed.invert(x))).at(-1) ?? all[0];
  canvas.addEventListener("pointermove", (event) => {
    const mark = event.pointerType === "mouse" && !event.buttons && pointed(event).mark;
    canvas.title = mark ? visible(`${duration(mark.at)}  ${mark.text}`) : "";
  });
  stage.addEventListener("scroll", soon);

  function toggle(lane) {
    if (!state.open.delete(lane)) state.open.add(lane);
    refresh();
  }

  const way = el("select", { "aria-label": "axis", change: () => ((state.way = way.value), refresh(), deed()) }, WAYS.map((each) => el("option", { value: each }, WAY_NAMES[each])));
  const find = el("input", { type: "search", placeholder: "filter by name or resource", "aria-label": "filter by name or resource", input: () => ((state.find = find.value.trim().toLowerCase()), refresh()) });
  const button = (text, label, act) => el("button", { type: "button", title: label, "aria-label": text.length > 1 ? `${text}: ${label}` : label, click: act }, text);
  const kinds = Object.entries(KINDS).filter(([kind]) => timeline.systems.length || !OUTSIDE.has(kind)).map(([kind, name]) => {
    const box = el("input", { type: "checkbox", checked: shows(kind), change: () => (box.checked ? state.hidden.delete(kind) : state.hidden.add(kind), refresh()) });
    return el("label", {}, box, name);
  });
  const beside = el("input", { type: "checkbox", change: () => ((state.beside = beside.checked), measure()) });
  const lanes = [...timeline.lanes, ...timeline.systems].map((lane) => button(lane.name, `show or hide the objects of ${lane.name}`, () => toggle(lane.name)));
  const tools = el("div", { class: "tools" },
    button("\u2212", "zoom out", () => by(1 / 1.5)), button("+", "zoom in", () => by(1.5)), button("whole trial", "show the whole trial", whole),
    timeline.tales.length ? button("the finding", "show what the story tells of", deed) : null, way, find,
    reference ? el("label", {}, beside, "beside a run without the faults") : null,
    el("details", {}, el("summary", {}, "what is shown"), el("div", { class: "kinds" }, kinds, lanes)));
  const box = el("div", { class: "chart" }, tools, stage, leftOut, legend(timeline), says,
    el("details", { class: "entries", toggle: () => list.draw() }, el("summary", {}, `The same as a table: ${all.length.toLocaleString("en")} entries`), list.element));

  new ResizeObserver(() => view && view.width !== Math.max(LEAST_WIDTH, stage.clientWidth) && measure()).observe(stage);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) window.matchMedia(query).addEventListener("change", () => view && measure());
  return {
    element: box,
    begin: () => {
      refresh();
      deed();
      draw();
      performance.mark(DRAWN);
    },
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

function* moments(all, place) {
  for (const { at, until } of all) {
    yield place(at);
    if (until !== null) yield place(until);
  }
}

/** Lanes whose objects are shown at first: those that the story tells of; of a long one nothing. Where it tells of none, the first. */
function firstOpen(timeline, all) {
  const told = new Set(all.filter((mark) => mark.witness).map((mark) => mark.lane));
  const lanes = timeline.lanes.filter((lane) => told.has(lane.name) && lane.objects.length <= 30);
  let room = 12;
  const first = timeline.lanes.filter((lane) => (room -= lane.objects.length) >= 0);
  return new Set([...(lanes.length ? lanes : first), ...timeline.systems.filter((system) => system.things.length <= 8)].map((lane) => lane.name));
}

/** From where to where the story goes, as places, with the faults that were open meanwhile, but for what would leave it less than a
 * quarter of the width. */
function extent(timeline, place) {
  const lines = timeline.tales[0].lines.map((line) => line.at);
  const [first, last] = [Math.min(...lines), Math.max(...lines)];
  const open = timeline.bands.filter((band) => band.since <= last && (band.until ?? timeline.seconds) >= first);
  const begin = place(Math.min(first, ...open.map((band) => band.since)));
  const end = place(Math.max(last, ...open.map((band) => band.until ?? timeline.seconds)));
  const room = place(last) - place(first);
  return room > 0 ? [Math.max(begin, place(first) - 0.5 * room), Math.min(end, place(last) + 2.5 * room)] : [begin, end];
}
