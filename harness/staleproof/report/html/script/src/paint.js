// Paints what is in sight of panels. A frame looks up where that begins, and never walks through all entries.
import { GLYPHS } from "./glyphs.js";
import { offset } from "./layout.js";
import { circle, hatching, line, zigzag } from "./pen.js";
import { inSight, lower } from "./sorted.js";
import { duration, visible } from "./text.js";

const FONT = "12px system-ui, sans-serif";
const CROWDED = 5; // pixels: where marks have less room each, how many there are is drawn instead
const BIN = 3;
const MOST_ARROWS = 400;
const widths = new Map();

/** The colours of the page, which follow the theme, and hatchings in them. */
export function palette(element, pen) {
  const style = getComputedStyle(element);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  const colours = Object.fromEntries(["text", "dim", "line", "paper", "panel", "truth", "shown", "stale", "hold", "own", "bad", "accent"].map((name) => [name, of(name)]));
  return { ...colours, hatched: { stale: hatching(pen, colours.stale, 5), hold: hatching(pen, colours.hold, 6) } };
}

/** All of it; how many entries are drawn as a crowd, or not at all because others are on the same pixel. `view`: `{left, width, height
 * (of what is in sight), scroll, top, zoomed, panels, gaps, colours, selected}`. */
export function paint(pen, view) {
  const sight = { low: view.zoomed.invert(view.left - 8), high: view.zoomed.invert(view.width + 8), pixel: view.zoomed.invert(1) - view.zoomed.invert(0) };
  pen.clearRect(0, 0, view.width, view.height);
  pen.font = FONT;
  pen.textBaseline = "middle";
  pen.save();
  pen.translate(0, -view.scroll);
  const rows = view.panels.map((panel) => panel.rows.filter((row) => row.y + row.height > view.scroll && row.y < view.scroll + view.height));
  pen.save();
  pen.beginPath();
  pen.rect(view.left, view.scroll, view.width - view.left, view.height);
  pen.clip();
  let leftOut = 0;
  view.labels = [];
  view.above = [];
  view.panels.forEach((panel, n) => {
    columns(pen, view, panel, sight);
    for (const row of rows[n]) ROWS[row.kind](pen, view, row, sight, panel);
    leftOut += marks(pen, view, rows[n], sight, panel);
  });
  gaps(pen, view, sight);
  for (const each of view.labels) label(pen, view, each);
  for (const [mark, x, y] of view.above) GLYPHS[mark.kind](pen, view.colours, mark, x, y);
  for (const panel of view.panels) for (const mark of panel.told) badge(pen, view, mark, panel.rowOf(mark));
  if (view.selected) for (const panel of view.panels) ring(pen, view, view.selected, panel);
  pen.restore();
  for (const each of rows) names(pen, view, each);
  pen.restore();
  return leftOut;
}

function columns(pen, { zoomed, colours, width, left }, panel, sight) {
  const [first, last] = [panel.rows[0], panel.bottom];
  if (!first) return;
  pen.strokeStyle = colours.line;
  const steps = panel.rows.find((row) => row.kind === "steps");
  let drawn = -9;
  for (let i = steps ? lower(steps.places, sight.low) : 0; steps && i < steps.places.length && steps.places[i] <= sight.high; i += 1) {
    const x = zoomed(steps.places[i]);
    if (x - drawn < 2) continue;
    line(pen, x, first.y, x, last);
    drawn = x;
  }
  pen.setLineDash([6, 3]);
  pen.strokeStyle = colours.text;
  for (const { place: [from], since } of panel.lives) if (since > 0 && from >= sight.low && from <= sight.high) line(pen, zoomed(from), first.y, zoomed(from), last);
  pen.setLineDash([]);
  pen.strokeStyle = colours.line;
  for (const row of panel.rows) line(pen, left, row.y + row.height, width, row.y + row.height);
}

const ROWS = {
  title: () => {},
  steps: (pen, view, row, sight) => {
    for (let i = Math.max(0, lower(row.places, sight.low) - 1), next; i < row.steps.length && row.places[i] <= sight.high; i = next) {
      next = Math.max(i + 1, lower(row.places, row.places[i] + sight.pixel)); // of several in one place the first
      const at = Math.max(view.zoomed(row.places[i]), view.left) + 4;
      const text = fitted(pen, `${row.steps[i].number} ${row.steps[i].does}`, (next < row.places.length ? view.zoomed(row.places[next]) : view.width) - at - 4);
      if (text) view.labels.push({ text, x: at, y: row.y + row.height / 2, ink: view.colours.dim, paper: view.colours.paper });
    }
  },
  fault: (pen, view, row) => {
    band(pen, view, row, row.place.map(view.zoomed), row.band.says);
  },
  process: (pen, view, row, sight) => {
    for (const { place, life } of row.lives) {
      const [x, width] = clipped(view, ...place.map(view.zoomed));
      if (width <= 0) continue;
      pen.fillStyle = view.colours.panel;
      pen.strokeStyle = view.colours.dim;
      pen.fillRect(x + 1, row.y + 4, width - 2, row.height - 8);
      pen.strokeRect(x + 1, row.y + 4, width - 2, row.height - 8);
      const text = fitted(pen, `life ${life}`, width - 8);
      if (text) view.labels.push({ text, x: Math.max(x, view.left) + 5, y: row.y + row.height / 2, ink: view.colours.dim, paper: view.colours.panel });
    }
    bars(pen, view, row.leads, sight, row.y + row.height - 6, 4, view.colours.accent, 1);
  },
  writes: () => {},
  reads: () => {},
  calls: () => {},
  looks: () => {},
  notices: () => {},
  system: (pen, view, row) => {
    pen.fillStyle = view.colours.panel;
    pen.fillRect(view.left, row.y + 1, view.width - view.left, row.height - 1);
    for (const { outage, place } of row.outages) band(pen, view, row, place.map(view.zoomed), outage.state === "down" ? "down" : `answers ${duration(outage.seconds)} late`);
  },
  thing: (pen, view, row, sight) => bars(pen, view, row.truth, sight, row.y + 6, 8, view.colours.truth, 0.55),
  lane: (pen, view, row, sight) => {
    pen.fillStyle = view.colours.panel;
    pen.fillRect(view.left, row.y + 1, view.width - view.left, row.height - 1);
    hold(pen, view, row);
    behind(pen, view, row, sight);
    bars(pen, view, row.kept, sight, row.y + row.height - 4, 3, view.colours.hold, 1);
  },
  object: (pen, view, row, sight) => {
    hold(pen, view, row);
    bars(pen, view, row.truth, sight, row.y + 5, 8, view.colours.truth, 0.55);
    row.halves.forEach((_, n) => {
      bars(pen, view, row.shown[n], sight, row.y + 17 + 12 * n, 8, view.colours.shown, 0.55);
      bars(pen, view, row.stale[n], sight, row.y + 15 + 12 * n, n ? 12 : 13, view.colours.hatched.stale, 1);
    });
    pen.strokeStyle = view.colours.dim;
    line(pen, view.left, row.y + 15, view.width, row.y + 15);
  },
};

/** What lasts, with what it is called, through a row. */
function band(pen, view, row, [from, to], says) {
  const [x, width] = clipped(view, from, Math.max(from + 2, to));
  if (width <= 0) return;
  pen.fillStyle = view.colours.hatched.hold;
  pen.fillRect(x, row.y + 2, width, row.height - 4);
  pen.strokeStyle = view.colours.hold;
  pen.strokeRect(x, row.y + 2, width, row.height - 4);
  const at = Math.max(from, view.left) + 14;
  const text = fitted(pen, says, view.width - at - 4);
  view.labels.push({ text, x: at, y: row.y + row.height / 2, ink: view.colours.text, paper: view.colours.paper });
}

/** What a row says, over whatever else is there. */
function label(pen, view, { text, x, y, ink, paper }) {
  pen.fillStyle = paper;
  pen.fillRect(x - 2, y - 7, wide(pen, text) + 4, 14);
  pen.fillStyle = ink;
  pen.fillText(text, x, y);
}

/** What of a stretch is in sight: where it begins there, and how wide it is. */
function clipped(view, from, to) {
  const x = Math.max(from, view.left - 20);
  return [x, Math.min(to, view.width + 20) - x];
}

/** Stretches in one colour. Each is filled by itself: a path of hundreds of rectangles takes a hundred times as long. */
function bars(pen, view, each, sight, y, height, colour, alpha) {
  pen.globalAlpha = alpha;
  pen.fillStyle = colour;
  for (const [from, to] of inSight(each, sight.low, sight.high, sight.pixel)) {
    const [x, width] = clipped(view, view.zoomed(from), view.zoomed(to));
    pen.fillRect(x, y, Math.max(1, width), height);
  }
  pen.globalAlpha = 1;
}

/** The hold on a resource, through its rows. */
function hold(pen, view, row) {
  pen.globalAlpha = 0.14;
  pen.fillStyle = view.colours.hold;
  for (const [from, to] of row.held) {
    const [x, width] = clipped(view, view.zoomed(from), view.zoomed(to));
    if (width > 0) pen.fillRect(x, row.y + 1, width, row.height - 1);
  }
  pen.globalAlpha = 1;
}

/** Of a lane the revisions that were not shown: of each pixel the most. */
function behind(pen, view, row, { low, high, pixel }) {
  const { behind: places, most } = row;
  const top = most(0, places.length);
  const floor = row.y + row.height - 5;
  const [shades, labels] = [[], []];
  for (let i = Math.max(0, lower(places, low) - 1); i < places.length && places[i] <= high; ) {
    const next = Math.max(i + 1, lower(places, places[i] + pixel));
    const revisions = most(i, next);
    const [x, width] = clipped(view, view.zoomed(places[i]), Math.max(view.zoomed(places[next] ?? 1), view.zoomed(places[i]) + 1));
    const height = (revisions / top) * (row.height - 10);
    if (revisions > 0) shades.push([x, floor - height, width, height]);
    if (revisions > 0 && width >= 26) labels.push([revisions, Math.max(x, view.left) + 3, width]);
    i = next;
  }
  pen.globalAlpha = 0.25;
  pen.fillStyle = view.colours.stale;
  for (const shade of shades) pen.fillRect(...shade);
  pen.globalAlpha = 1;
  pen.fillStyle = view.colours.hatched.stale;
  for (const shade of shades) pen.fillRect(...shade);
  for (const [revisions, x, width] of labels) view.labels.push({ text: fitted(pen, `${revisions} behind`, width - 4) || String(revisions), x, y: row.y + 10, ink: view.colours.text, paper: view.colours.panel });
}

/** The glyphs in sight, or where they are crowded how many there are; how many are told by that alone, or by none. */
function marks(pen, view, rows, sight, panel) {
  let leftOut = 0;
  const writes = [];
  const glyphs = [];
  for (const row of rows) {
    for (const each of row.lines) {
      const [i, j] = [lower(each.places, sight.low), lower(each.places, sight.high)];
      if ((j - i) * CROWDED > view.width - view.left) {
        crowd(pen, view, row, each, sight);
        leftOut += j - i;
        continue;
      }
      let last = -9;
      for (let k = i; k < j; k += 1) {
        const mark = each.marks[k];
        const x = view.zoomed(each.places[k]);
        if (!mark.witness && x - last < 1) {
          leftOut += 1;
          continue;
        }
        last = x;
        glyphs.push([mark, x, row.y + each.offset]);
        if (mark.kind === "write") writes.push([mark, x, row]);
      }
    }
  }
  if (writes.length <= MOST_ARROWS) for (const each of writes) arrows(pen, view, panel, ...each);
  for (const [mark, x, y] of glyphs) {
    if (mark.kind === "fired") view.above.push([mark, x, y]); // below what its row says, and not hidden by it
    else GLYPHS[mark.kind](pen, view.colours, mark, x, y);
  }
  return leftOut;
}

/** How many marks there are, as bars: the highest is as high as the row. */
function crowd(pen, view, row, { places, offset: down }, { low, high, pixel }) {
  const counts = [];
  const bins = Math.ceil((high - low) / (BIN * pixel));
  for (let n = 0, i = lower(places, low); n < bins; n += 1) {
    const j = lower(places, low + (n + 1) * BIN * pixel);
    counts.push(j - i);
    i = j;
  }
  const top = Math.log1p(Math.max(...counts, 1));
  const room = row.kind === "object" ? 12 : row.height - 6;
  const floor = row.kind === "object" ? row.y + down + (down < 15 ? 6 : 8) : row.y + row.height - 3;
  pen.globalAlpha = 0.75;
  pen.fillStyle = row.kind === "writes" || row.kind === "calls" ? view.colours.own : view.colours.dim;
  counts.forEach((count, n) => {
    const height = Math.max(2, (Math.log1p(count) / top) * room);
    if (count) pen.fillRect(view.zoomed(low) + n * BIN, floor - height, BIN - 0.5, height);
  });
  pen.globalAlpha = 1;
}

function arrows(pen, view, panel, mark, x, row) {
  pen.strokeStyle = view.colours.own;
  pen.globalAlpha = 0.45;
  if (mark.of.lost) pen.setLineDash([4, 3]);
  for (const entry of mark.of.changed) {
    const commit = panel.target(entry);
    const to = commit && panel.rowOf(commit);
    if (to) line(pen, x, row.y + row.height / 2 + 5, view.zoomed(commit.place), to.y + offset(commit, to) - 6);
  }
  pen.setLineDash([]);
  pen.globalAlpha = 1;
}

function gaps(pen, view, sight) {
  const bottom = view.scroll + view.height;
  let free = view.left;
  for (let i = lower(view.gaps.to, sight.low); i < view.gaps.from.length && view.gaps.from[i] <= sight.high; i += 1) {
    const [a, b] = [view.zoomed(view.gaps.from[i]), view.zoomed(view.gaps.to[i])];
    const middle = (a + b) / 2;
    if (b - a < 12) continue;
    pen.fillStyle = view.colours.paper;
    pen.fillRect(middle - 4, view.scroll, 8, view.height - 18);
    pen.strokeStyle = view.colours.dim;
    pen.save();
    pen.translate(0, view.scroll);
    for (const side of [-4, 4]) zigzag(pen, middle + side, view.height - 18);
    pen.restore();
    const text = duration(view.gaps.seconds[i]);
    const width = wide(pen, text) + 6;
    if (middle - width / 2 < free || middle + width / 2 > view.width) continue; // no room beside the one before, or before the edge
    free = middle + width / 2;
    pen.fillRect(middle - width / 2, bottom - 17, width, 17);
    pen.fillStyle = view.colours.dim;
    pen.fillText(text, middle - width / 2 + 3, bottom - 8);
  }
}

function badge(pen, view, mark, row) {
  const [x, y] = [view.zoomed(mark.place), row.y + offset(mark, row)];
  if (x < view.left - 8 || x > view.width + 8) return;
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

function ring(pen, view, mark, panel) {
  const row = mark.timeline === panel.timeline && panel.rowOf(mark);
  if (!row) return;
  pen.strokeStyle = view.colours.accent;
  pen.lineWidth = 3;
  circle(pen, view.zoomed(mark.place), row.y + offset(mark, row), 12);
  pen.stroke();
  pen.lineWidth = 1;
}

function names(pen, view, rows) {
  for (const row of rows) {
    const isFolded = row.kind === "lane" || row.kind === "system";
    const isHead = isFolded || row.kind === "title";
    pen.fillStyle = isHead ? view.colours.panel : view.colours.paper;
    pen.fillRect(0, row.y, row.kind === "title" ? view.width : view.left, row.height);
    pen.fillStyle = isHead ? view.colours.text : view.colours.dim;
    pen.font = isHead ? `bold ${FONT}` : FONT;
    const sign = isFolded ? (row.isOpen ? "\u25be " : "\u25b8 ") : "";
    const isThing = row.kind === "object" || row.kind === "thing";
    const indent = isThing ? 16 : 4;
    const label = isFolded ? `${sign}${row.short} (${row.count})` : row.label;
    const room = row.kind === "title" ? view.width : view.left;
    pen.fillText(fitted(pen, label, room - indent - 6, isThing), indent, row.y + row.height / 2);
    pen.strokeStyle = view.colours.line;
    line(pen, 0, row.y + row.height, view.left, row.y + row.height);
  }
  pen.font = FONT;
}

/** How wide a text is. Measuring is dear, and names come again in each frame. */
function wide(pen, text) {
  const key = `${pen.font} ${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size > 5000) widths.clear();
    widths.set(key, (width = pen.measureText(text).width));
  }
  return width;
}

/** As much of a text as fits; `end`: its end matters more, as of a generated name. */
function fitted(pen, text, room, end = false) {
  if (room < 8) return "";
  const all = visible(text, 160);
  const whole = wide(pen, all);
  if (whole <= room) return all;
  const cut = (length) => (end ? `\u2026${all.slice(-length)}` : `${all.slice(0, length)}\u2026`);
  let length = Math.min(all.length - 1, Math.floor((all.length * room) / whole) + 2);
  while (length > 1 && wide(pen, cut(length)) > room) length -= 1;
  return length < 2 ? "" : cut(length);
}
