// The entries of a timeline as one list: what the canvas draws and hits, and what the table beside it tells.
import { duration, plural } from "./text.js";

export const KINDS = {
  step: "steps of the workload",
  truth: "what was committed",
  shown: "what it was shown",
  write: "its writes",
  read: "its reads",
  fault: "faults",
  process: "its process",
  stream: "streams, and other events",
};
const PROCESS = new Set(["killed", "paused", "continued", "exited"]);
const MEANS = { frame: "by a frame", list: "by a list", get: "by a GET", answer: "by the answer to its own write" };
const READS = new Set(["get", "list", "watch"]);
const DONE = { ADDED: "created", MODIFIED: "changed", DELETED: "deleted" };

/** Each `{entry, at, until, kind, lane, uid, text, of}`, by time; `of` is what it stands for in the document. */
export function marks(timeline) {
  const found = [
    ...timeline.steps.map((step) => ({ ...when(step), kind: "step", text: `step ${step.number}: ${step.does}`, of: step })),
    ...timeline.bands.map((band) => ({ ...when(band), kind: "fault", lane: band.lane, text: faultText(band), of: band })),
    ...timeline.lanes.flatMap(laneMarks),
    ...timeline.requests.map((request) => requestMark(request)),
    ...timeline.events.map((event) => eventMark(event)),
  ];
  const numbers = witnessNumbers(timeline.tales[0]);
  for (const mark of found) mark.witness = numbers.get(mark.entry) ?? numbers.get(mark.of.answer);
  return found.sort((a, b) => a.at - b.at || a.entry - b.entry);
}

/** The number of the line of the story that tells of an entry, by the entry. */
export function witnessNumbers(tale) {
  return new Map((tale?.lines ?? []).flatMap((line) => line.entries.map((entry) => [entry, line.line])));
}

const when = (each) => ({ entry: each.entry, at: each.since, until: each.until });

function faultText(band) {
  return `fault ${band.fault + 1}, ${band.name}: ${band.says}${band.fired ? "" : " (it did nothing)"}`;
}

function laneMarks(lane) {
  return lane.objects.flatMap((object) => {
    const stale = new Map(object.stale.map((each) => [each.entry, each]));
    const place = { lane: lane.name, uid: object.uid };
    return [
      ...object.revisions.map((of) => ({ ...place, entry: of.entry, at: of.at, kind: "truth", text: truthText(object, of, stale.get(of.entry)), of })),
      ...object.shown.map((of) => ({ ...place, entry: of.entry, at: of.at, kind: "shown", text: shownText(object, of), of })),
    ];
  });
}

function truthText(object, revision, stale) {
  const done = revision.deletes && revision.type === "MODIFIED" ? "marked for deletion" : DONE[revision.type];
  const who = revision.by === "controller" ? "by the controller" : `by ${revision.managers.join(", ") || "somebody else"}`;
  const late = stale === undefined ? "" : stale.until === null ? "; never shown in this life" : `; shown ${duration(stale.until - stale.since)} later`;
  return `${object.name} was ${done} ${who} (resourceVersion ${revision.revision})${late}`;
}

function shownText(object, showing) {
  if (showing.gone) return `it was shown that ${object.name} is gone, ${MEANS[showing.means]}`;
  const verb = showing.means === "answer" ? "was told of" : "was shown";
  return `it ${verb} ${object.name} at resourceVersion ${showing.revision}, ${MEANS[showing.means]}`;
}

function requestMark(request) {
  const name = request.name ? `/${request.name}` : "";
  const part = request.subresource ? ` (${request.subresource})` : "";
  const kind = READS.has(request.verb) ? "read" : "write";
  const { entry, at, answered } = request;
  return { entry, at, until: answered, kind, lane: request.lane, text: `${request.verb} ${request.lane}${name}${part}: ${outcome(request)}`, of: request };
}

function outcome(request) {
  if (request.rejected) return `rejected by a fault ${code(request)}`.trim();
  if (request.lost) return "it never heard whether it was done";
  if (request.answered === null) return "no answer was seen";
  const past = request.past ? ", with a state of the past" : "";
  const changed = request.changed.length ? `, ${plural(request.changed.length, "revision")} committed` : "";
  return `answered ${code(request)} after ${duration(request.answered - request.at)}${past}${changed}`.replace("  ", " ");
}

const code = (request) => (request.code ? `${request.code} ${request.reason}`.trim() : "");

function eventMark(event) {
  const kind = PROCESS.has(event.kind) ? "process" : "stream";
  const of = event.lane ? ` (${event.lane})` : "";
  return { entry: event.entry, at: event.at, kind, lane: event.lane, text: `${event.kind}${of}${event.says ? `: ${event.says}` : ""}`, of: event };
}
