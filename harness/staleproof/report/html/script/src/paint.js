// Paints a timeline. `x(at)` is the pixel of a moment; what is left of `left` is for the names of rows.
import { GLYPHS } from "./glyphs.js";
import { offset } from "./layout.js";
import { circle, hatch, line, zigzag } from "./pen.js";
import { duration, visible } from "./text.js";

const OF_PROCESS = new Set(["restarts", "kills", "terminates", "pauses"]);
const FONT = "12px system-ui, sans-serif";

/** The colours of the page, which follow the theme. */
export function palette(element) {
  const style = getComputedStyle(element);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  return Object.fromEntries(["text", "dim", "line", "paper", "panel", "truth", "shown", "stale", "hold", "own", "bad", "accent"].map((name) => [name, of(name)]));
}

/** All of it; how many entries were left out because others are on the same pixel. `view`: `{x, left, width, rows, height, rowOf, marks, timeline, gaps, colours, selected}`. */
export function paint(pen, view) {
  pen.clearRect(0, 0, view.width, view.height);
  pen.font = FONT;
  pen.textBaseline = "middle";
  pen.save();
  pen.beginPath();
  pen.rect(view.left, 0, view.width - view.left, view.height);
  pen.clip();
  columns(pen, view);
  for (const row of view.rows) ROWS[row.kind](pen, view, row);
  const { drawn, leftOut } = apart(view);
  arrows(pen, view, drawn);
  for (const mark of drawn) glyph(pen, view, mark);
  gaps(pen, view);
  for (const mark of drawn) if (mark.witness) badge(pen, view, mark);
  if (view.selected) ring(pen, view, view.selected);
  pen.restore();
  names(pen, view);
  return leftOut;
}

/** The marks in sight, one for each pixel of a row, and all of the story. */
function apart(view) {
  const last = new Map();
  const drawn = [];
  let leftOut = 0;
  for (const mark of view.marks) {
    const x = view.zoomed(mark.place);
    const row = x < view.left - 8 || x > view.width + 8 ? null : view.rowOf(mark);
    if (!row) continue;
    const place = row.y + (mark.kind === "shown" ? 0.5 : 0);
    if (!mark.witness && x - (last.get(place) ?? -9) < 1) {
      leftOut += 1;
      continue;
    }
    drawn.push(mark);
    last.set(place, x);
  }
  return { drawn, leftOut };
}

const end = (view, until) => (until === null || until === undefined ? view.timeline.seconds : until);

function span(view, each) {
  const from = view.x(each.since);
  return [from, Math.max(2, view.x(end(view, each.until)) - from)];
}

function columns(pen, { x, rows, height, colours, timeline }) {
  pen.strokeStyle = colours.line;
  for (const row of rows) line(pen, 0, row.y + row.height, 1e5, row.y + row.height);
  for (const step of timeline.steps) line(pen, x(step.since), 0, x(step.since), height);
  pen.setLineDash([6, 3]);
  pen.strokeStyle = colours.text;
  for (const life of timeline.lives) if (life.since > 0) line(pen, x(life.since), 0, x(life.since), height);
  pen.setLineDash([]);
}

const ROWS = {
  steps: (pen, view, row) => {
    let free = -1;
    for (const step of view.timeline.steps) {
      const at = view.x(step.since) + 4;
      if (at < free) continue;
      const next = view.timeline.steps.find((each) => each.since > step.since);
      const text = fitted(pen, `${step.number} ${step.does}`, (next ? view.x(next.since) : view.width) - at - 4);
      pen.fillStyle = view.colours.dim;
      pen.fillText(text, at, row.y + row.height / 2);
      free = at + pen.measureText(text).width;
    }
  },
  fault: (pen, view, row) => {
    const [from, width] = span(view, row.band);
    hatch(pen, from, row.y + 2, width, row.height - 4, view.colours.hold, 6);
    pen.strokeStyle = view.colours.hold;
    pen.strokeRect(from, row.y + 2, width, row.height - 4);
    if (from + width < view.left) return;
    const at = Math.max(from, view.left) + 14;
    const text = fitted(pen, row.band.says, view.width - at - 4);
    pen.fillStyle = view.colours.paper;
    pen.fillRect(at - 2, row.y + 3, pen.measureText(text).width + 4, row.height - 6);
    pen.fillStyle = view.colours.text;
    pen.fillText(text, at, row.y + row.height / 2);
  },
  process: (pen, view, row) => {
    for (const life of view.timeline.lives) {
      const [from, width] = span(view, life);
      pen.fillStyle = view.colours.panel;
      pen.strokeStyle = view.colours.dim;
      pen.fillRect(from + 1, row.y + 4, width - 2, row.height - 8);
      pen.strokeRect(from + 1, row.y + 4, width - 2, row.height - 8);
      pen.fillStyle = view.colours.dim;
      pen.fillText(fitted(pen, `life ${life.life}`, width - 8), Math.max(from, view.left) + 5, row.y + row.height / 2);
    }
  },
  writes: () => {},
  reads: () => {},
  lane: (pen, view, row) => {
    pen.fillStyle = view.colours.panel;
    pen.fillRect(0, row.y + 1, view.width, row.height - 1);
    held(pen, view, row);
    behind(pen, view, row);
    for (const kept of row.lane.kept) {
      const [from, width] = span(view, kept);
      pen.fillStyle = view.colours.hold;
      pen.fillRect(from, row.y + row.height - 4, width, 3);
    }
  },
  object: (pen, view, row) => {
    held(pen, view, row);
    const { object, y } = row;
    bar(pen, view, lifetime(object), y + 5, 8, view.colours.truth);
    for (const known of knowledge(object, view.timeline)) bar(pen, view, known, y + 17, 8, view.colours.shown);
    let free = -1;
    for (const stale of object.stale) {
      const [from, width] = span(view, stale);
      if (from + width < view.left || from > view.width || from + width < free) continue;
      free = from + width + 1;
      hatch(pen, from, y + 15, width, 13, view.colours.stale, 5);
    }
    pen.strokeStyle = view.colours.dim;
    line(pen, view.left, y + 15, view.width, y + 15);
  },
};

/** From when to when an object was there. */
function lifetime({ revisions }) {
  const last = revisions.at(-1);
  return { since: revisions[0].at, until: last.type === "DELETED" ? last.at : null };
}

/** From when to when each life of the controller believed it to be there. */
export function knowledge({ shown }, { lives }) {
  return lives.flatMap(({ life, until }) => {
    const known = shown.filter((each) => each.life === life);
    const first = known.find((each) => !each.gone);
    const gone = first && known.find((each) => each.gone && each.at >= first.at);
    return first ? [{ since: first.at, until: gone ? gone.at : until }] : [];
  });
}

/** The hold on a resource, through its rows. */
function held(pen, view, row) {
  for (const band of view.timeline.bands) {
    if ((band.lane !== "*" && band.lane !== row.lane.name) || band.effects.every((effect) => OF_PROCESS.has(effect))) continue;
    const [from, width] = span(view, band);
    pen.globalAlpha = 0.14;
    pen.fillStyle = view.colours.hold;
    pen.fillRect(from, row.y + 1, width, row.height - 1);
    pen.globalAlpha = 1;
  }
}

function behind(pen, view, row) {
  const most = row.lane.behind.reduce((most, each) => Math.max(most, each.revisions), 0);
  const floor = row.y + row.height - 5;
  let free = -1;
  row.lane.behind.forEach((each, i) => {
    if (!each.revisions) return;
    const from = view.x(each.at);
    if (from > view.width) return;
    const width = Math.max(1, view.x(row.lane.behind[i + 1]?.at ?? view.timeline.seconds) - from);
    if (from + width < Math.max(free, view.left)) return;
    free = from + width + 1;
    const height = (each.revisions / most) * (row.height - 10);
    pen.globalAlpha = 0.25;
    pen.fillStyle = view.colours.stale;
    pen.fillRect(from, floor - height, width, height);
    pen.globalAlpha = 1;
    hatch(pen, from, floor - height, width, height, view.colours.stale, 5);
    if (width < 26) return;
    pen.fillStyle = view.colours.text;
    pen.fillText(fitted(pen, `${each.revisions} behind`, width - 4) || String(each.revisions), from + 3, row.y + 10);
  });
}

function arrows(pen, view, drawn) {
  pen.strokeStyle = view.colours.own;
  for (const mark of drawn) {
    const from = mark.kind === "write" ? view.rowOf(mark) : null;
    for (const entry of from ? mark.of.changed : []) {
      const target = view.revisions.get(entry);
      const row = target && view.rowOf(target);
      if (!row) continue;
      pen.globalAlpha = 0.45;
      pen.setLineDash(mark.of.lost ? [4, 3] : []);
      line(pen, view.x(mark.at), from.y + from.height / 2 + 5, view.x(target.at), row.y + offset(target, row) - 6);
      pen.setLineDash([]);
      pen.globalAlpha = 1;
    }
  }
}

function glyph(pen, view, mark) {
  const row = view.rowOf(mark);
  if (!row || mark.kind === "step" || mark.kind === "fault") return;
  if (row.kind === "lane" && (mark.kind === "shown" || mark.kind === "truth")) return; // its shade tells
  const [x, y] = [view.x(mark.at), row.y + offset(mark, row)];
  if (x < view.left - 8 || x > view.width + 8) return;
  GLYPHS[mark.kind](pen, view.colours, mark, x, y);
}

function gaps(pen, view) {
  for (const { from, to } of view.gaps) {
    const [a, b] = [view.x(from), view.x(to)];
    const middle = (a + b) / 2;
    if (b - a < 12) continue;
    pen.fillStyle = view.colours.paper;
    pen.fillRect(middle - 4, 0, 8, view.height - 18);
    pen.strokeStyle = view.colours.dim;
    for (const side of [-4, 4]) zigzag(pen, middle + side, view.height - 18);
    const text = duration(to - from);
    const width = pen.measureText(text).width + 6;
    pen.fillRect(middle - width / 2, view.height - 17, width, 17);
    pen.fillStyle = view.colours.dim;
    pen.fillText(text, middle - width / 2 + 3, view.height - 8);
  }
}

function badge(pen, view, mark) {
  const row = view.rowOf(mark);
  if (!row) return;
  const [x, y] = [view.x(mark.at), row.y + offset(mark, row)];
  pen.fillStyle = view.colours.accent;
  circle(pen, x, y, 8);
  pen.fill();
  pen.strokeStyle = view.colours.paper;
  pen.stroke();
  pen.fillStyle = view.colours.paper;
  pen.textAlign = "center";
  pen.fillText(String(mark.witness), x, y + 0.5);
  pen.textAlign = "start";
}

function ring(pen, view, mark) {
  const row = view.rowOf(mark);
  if (!row) return;
  pen.strokeStyle = view.colours.accent;
  pen.lineWidth = 3;
  circle(pen, view.x(mark.at), row.y + offset(mark, row), 12);
  pen.stroke();
  pen.lineWidth = 1;
}

function names(pen, view) {
  pen.fillStyle = view.colours.paper;
  pen.fillRect(0, 0, view.left, view.height);
  for (const row of view.rows) {
    const isLane = row.kind === "lane";
    pen.fillStyle = isLane ? view.colours.text : view.colours.dim;
    pen.font = isLane ? `bold ${FONT}` : FONT;
    const mark = isLane ? (row.isOpen ? "\u25be " : "\u25b8 ") : "";
    const indent = row.kind === "object" ? 16 : 4;
    const label = isLane ? `${mark}${row.short} (${row.count})` : row.label;
    pen.fillText(fitted(pen, label, view.left - indent - 6, row.kind === "object"), indent, row.y + row.height / 2);
  }
  pen.font = FONT;
}

/** As much of a text as fits; `end`: its end matters more, as of a generated name. */
function fitted(pen, text, width, end = false) {
  const all = visible(text, 160);
  if (pen.measureText(all).width <= width) return all;
  let length = all.length;
  while (length > 1 && pen.measureText(`${all.slice(0, length)}\u2026`).width > width) length -= 1;
  if (length < 3) return "";
  return end ? `\u2026${all.slice(-(length - 1))}` : `${all.slice(0, length)}\u2026`;
}

function bar(pen, view, each, y, height, colour) {
  const [from, width] = span(view, each);
  pen.fillStyle = colour;
  pen.globalAlpha = 0.55;
  pen.fillRect(from, y, width, height);
  pen.globalAlpha = 1;
}
