// A timeline ready to be painted: for each row its marks and what lasts, in sorted columns of places (fractions of the axis).
import { layout, offset } from "./layout.js";
import { lower, pyramid, spans } from "./sorted.js";

const OF_PROCESS = new Set(["restarts", "kills", "terminates", "pauses"]);
const NEAR = 12; // pixels

/** `{rows, bottom, marks, told, rowOf, nearest, target}`. `place(at)` leads from its seconds to the axis; `found(mark)` and `options`
 * (as of `layout`) say what is shown. */
export function panel(timeline, all, { place, found, ...options }) {
  const { rows, bottom, rowOf } = layout(timeline, options);
  const end = (until) => place(until ?? timeline.seconds);
  const stretch = ({ since, until }) => [place(since), end(until)];
  for (const row of rows) Object.assign(row, { lines: [] }, LASTING[row.kind]?.(row, { timeline, stretch, place }));
  const marks = all.filter((mark) => options.shows(mark.kind) && found(mark));
  const revisions = new Map();
  for (const mark of all) {
    mark.place = place(mark.at);
    mark.timeline = timeline;
    if (mark.kind === "truth") revisions.set(mark.entry, mark);
  }
  for (const mark of marks) line(rowOf(mark), mark)?.marks.push(mark);
  for (const row of rows) for (const each of row.lines) each.places = Float64Array.from(each.marks, (mark) => mark.place);
  return {
    timeline, rows, bottom, rowOf, marks,
    told: marks.filter((mark) => mark.witness && rowOf(mark)),
    lives: timeline.lives.map((life) => ({ ...life, place: stretch(life) })),
    /** The commit of this entry, if it has a row. */
    target: (entry) => revisions.get(entry),
    nearest: (x, y, zoomed) => nearest(rows, x, y, zoomed),
  };
}

/** Where in its row a mark is drawn; nowhere without a row, and where a shade tells it. */
function line(row, mark) {
  if (!row || mark.kind === "step" || mark.kind === "fault" || (row.kind === "lane" && mark.kind !== "stream")) return null;
  const at = offset(mark, row);
  const found = row.lines.find((each) => each.offset === at);
  if (found) return found;
  row.lines.push({ offset: at, marks: [] });
  return row.lines.at(-1);
}

const LASTING = {
  steps: (row, { timeline, place }) => ({ steps: timeline.steps, places: Float64Array.from(timeline.steps, (step) => place(step.since)) }),
  process: (row, { timeline, stretch }) => ({
    lives: timeline.lives.filter((life) => life.replica === row.replica).map((life) => ({ life: life.life, place: stretch(life) })),
    leads: spans(timeline.leaders.filter((each) => each.replica === row.replica).map(stretch)),
  }),
  fault: (row, { stretch }) => ({ place: stretch(row.band) }),
  lane: (row, { timeline, stretch, place }) => ({
    held: held(row, timeline, stretch),
    kept: spans(row.lane.kept.map(stretch)),
    behind: Float64Array.from(row.lane.behind, (each) => place(each.at)),
    most: pyramid(row.lane.behind.map((each) => each.revisions)),
  }),
  system: (row, { stretch }) => ({ outages: row.system.outages.map((outage) => ({ outage, place: stretch(outage) })) }),
  thing: (row, { stretch }) => ({ truth: spans(stays(row.thing).map(stretch)) }),
  object: (row, { timeline, stretch }) => ({
    held: held(row, timeline, stretch),
    truth: spans([stretch(lifetime(row.object))]),
    shown: row.halves.map((replica) => spans(knowledge(row.object, timeline, replica).map(stretch))),
    stale: row.halves.map((replica) => spans(row.object.stale.filter((each) => each.replica === replica).map(stretch))),
  }),
};

/** The holds on a resource. */
function held(row, { bands }, stretch) {
  return bands.filter((band) => (band.lane === "*" || band.lane === row.lane.name) && !band.effects.every((effect) => OF_PROCESS.has(effect))).map(stretch);
}

/** From when to when an object was there. */
function lifetime({ revisions }) {
  const last = revisions.at(-1);
  return { since: revisions[0].at, until: last.type === "DELETED" ? last.at : null };
}

/** From when to when something was in an external system, as far as looks tell. */
export function stays({ seen }) {
  const found = [];
  for (const { at, change } of seen) {
    if (change === "created") found.push({ since: at, until: null });
    else if (change === "deleted" && found.length) found.at(-1).until = at;
  }
  return found;
}

/** From when to when each life of a replica believed it to be there. */
export function knowledge({ shown }, { lives }, replica = 0) {
  return lives.filter((life) => (life.replica ?? 0) === replica).flatMap(({ life, until }) => {
    const known = shown.filter((each) => each.life === life && (each.replica ?? 0) === replica);
    const first = known.find((each) => !each.gone);
    const gone = first && known.find((each) => each.gone && each.at >= first.at);
    return first ? [{ since: first.at, until: gone ? gone.at : until }] : [];
  });
}

/** The mark next to a pixel of the content; null where none is near. */
function nearest(rows, x, y, zoomed) {
  const row = rows.find((each) => y >= each.y && y < each.y + each.height);
  let [best, least] = [null, NEAR];
  for (const { places, marks, offset: down } of row?.lines ?? []) {
    for (let i = lower(places, zoomed.invert(x - NEAR)); i < marks.length && zoomed(places[i]) < x + NEAR; i += 1) {
      const reach = Math.hypot(zoomed(places[i]) - x, (row.y + down - y) / 2);
      if (reach < least) [best, least] = [marks[i], reach];
    }
  }
  return best;
}
