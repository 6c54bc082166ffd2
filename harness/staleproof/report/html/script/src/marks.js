// The entries of a timeline as one list: what the canvas draws and hits, and what the table beside it tells.
import { duration, plural } from "./text.js";

export const KINDS = {
  step: "steps of the workload",
  truth: "what was committed",
  shown: "what it was shown",
  write: "its writes",
  read: "its reads",
  fault: "faults",
  fired: "what faults did",
  process: "its process",
  stream: "streams, and other events",
  call: "its calls to external systems",
  look: "its looks there",
  notice: "notifications",
  turn: "when they were down or slow",
  drift: "what other users did there",
  held: "what was there when looked at",
};
const OF_EVENT = { killed: "process", paused: "process", continued: "process", exited: "process", started: "process", "fault fired": "fired" };
const MEANS = { frame: "by a frame", list: "by a list", get: "by a GET", answer: "by the answer to its own write" };
const READS = new Set(["get", "list", "watch"]);
const DONE = { ADDED: "created", MODIFIED: "changed", DELETED: "deleted" };
const EFFECTS = { delay: "answered late", reject: "refused", cut: "cut", "lose-answer": "its answer lost", stall: "never answered" };
const OF_NOTICE = { lose: "it was lost", repeat: "it came twice", delay: "it came late" };
const WORDS = {
  step: ({ of }) => `step ${of.number}: ${of.does}`,
  fault: ({ of }) => `fault ${of.fault + 1}, ${of.name}: ${of.says}${of.fired ? "" : " (it did nothing)"}`,
  truth: ({ of, object }) => truthText(object, of),
  shown: ({ of, object }) => shownText(object, of),
  write: ({ of }) => requestText(of),
  read: ({ of }) => requestText(of),
  fired: ({ of }) => eventText(of),
  process: ({ of }) => eventText(of),
  stream: ({ of }) => eventText(of),
  told: ({ of }) => of.says,
  call: ({ of, lane }) => callText(of, lane),
  look: ({ of, lane }) => callText(of, lane),
  notice: ({ of, lane }) => `notification of ${lane} on ${of.channel}${about(of)}${of.effect ? `: ${OF_NOTICE[of.effect]}, by a fault` : ""}`,
  turn: ({ of, lane, at }) => (at === of.until ? `${lane} was up and in time again` : of.state === "down" ? `${lane} went down` : `${lane} began to answer ${duration(of.seconds)} late`),
  drift: ({ of, lane }) => `${of.kind}/${of.external} of ${lane} was ${of.change} by another user`,
  held: ({ of, lane, object }) => `${object.name} of ${lane} was ${of.change} between ${duration(of.after)} and ${duration(of.at)}`,
};

/** An entry. `of` is what it stands for in the document; `witness` the number of the line of the story that tells of it. Its words are
 * made when they are wanted: there may be a hundred thousand. */
export class Mark {
  constructor(kind, entry, at, until, lane, object, of) {
    Object.assign(this, { kind, entry, at, until, lane, object, of, witness: undefined });
  }

  get uid() {
    return this.object?.uid;
  }

  get text() {
    return WORDS[this.kind](this);
  }
}

/** All of them, by time. */
export function marks(timeline) {
  const found = [
    ...timeline.steps.map((step) => new Mark("step", step.entry, step.since, step.until, "", null, step)),
    ...timeline.bands.map((band) => new Mark("fault", band.entry, band.since, band.until, band.lane, null, band)),
  ];
  for (const lane of timeline.lanes) {
    for (const object of lane.objects) {
      for (const of of object.revisions) found.push(new Mark("truth", of.entry, of.at, null, lane.name, object, of));
      for (const of of object.shown) found.push(new Mark("shown", of.entry, of.at, null, lane.name, object, of));
    }
  }
  for (const system of timeline.systems) {
    for (const of of system.calls) found.push(new Mark(of.changes ? "call" : "look", of.entry, of.at, of.answered, system.name, null, of));
    for (const of of system.notifications) found.push(new Mark("notice", of.entry, of.at, null, system.name, null, of));
    for (const of of system.outages) {
      found.push(new Mark("turn", of.entry, of.since, null, system.name, null, of));
      if (of.end !== null) found.push(new Mark("turn", of.end, of.until, null, system.name, null, of));
    }
    const things = new Map(system.things.map((thing) => [thing.name, thing]));
    for (const of of system.drifts) found.push(new Mark("drift", of.entry, of.at, null, system.name, things.get(`${of.kind}/${of.external}`) ?? null, of));
    for (const thing of system.things) for (const of of thing.seen) found.push(new Mark("held", of.entry, of.at, null, system.name, thing, of));
  }
  for (const of of timeline.requests) found.push(new Mark(READS.has(of.verb) ? "read" : "write", of.entry, of.at, of.answered, of.lane, null, of));
  for (const of of timeline.events) found.push(new Mark(OF_EVENT[of.kind] ?? "stream", of.entry, of.at, null, of.lane, null, of));
  const numbers = witnessNumbers(timeline.tales[0]);
  if (numbers.size) for (const mark of found) mark.witness = numbers.get(mark.entry) ?? numbers.get(mark.of.answer);
  found.push(...alone(timeline.tales[0], found));
  return found.sort((a, b) => a.at - b.at || a.entry - b.entry);
}

/** What the story alone tells of: no other mark stands for it. */
function alone(tale, found) {
  const told = new Set(found.map((mark) => mark.witness));
  const lines = (tale?.lines ?? []).filter(({ line }) => !told.has(line));
  return lines.map((line) => Object.assign(new Mark("told", line.entries[0], line.at, null, "", null, line), { witness: line.line }));
}

/** The number of the line of the story that tells of an entry, by the entry. */
export function witnessNumbers(tale) {
  return new Map((tale?.lines ?? []).flatMap((line) => line.entries.map((entry) => [entry, line.line])));
}

function truthText(object, revision) {
  const done = revision.deletes && revision.type === "MODIFIED" ? "marked for deletion" : DONE[revision.type];
  const who = revision.by === "controller" ? "by the controller" : `by ${revision.managers.join(", ") || "another client"}`;
  const stale = object.stale.find((each) => each.entry === revision.entry);
  const late = stale === undefined ? "" : stale.until === null ? "; never shown in this life" : `; shown ${duration(stale.until - stale.since)} later`;
  return `${object.name} was ${done} ${who} (resourceVersion ${revision.revision})${late}`;
}

function shownText(object, showing) {
  if (showing.gone) return `it was shown that ${object.name} is gone, ${MEANS[showing.means]}`;
  const verb = showing.means === "answer" ? "was told of" : "was shown";
  return `it ${verb} ${object.name} at resourceVersion ${showing.revision}, ${MEANS[showing.means]}`;
}

function requestText(request) {
  const name = request.name ? `/${request.name}` : "";
  const part = request.subresource ? ` (${request.subresource})` : "";
  return `${request.verb} ${request.lane}${name}${part}: ${outcome(request)}`;
}

function outcome(request) {
  if (request.rejected) return `rejected by a fault ${code(request)}`.trim();
  if (request.lost) return "it never heard whether it was done";
  if (request.answered === null) return "no answer was seen";
  const past = request.past ? ", with a state of the past" : "";
  const changed = request.changed.length ? `, ${plural(request.changed.length, "revision")} committed` : "";
  return `answered ${code(request)} after ${duration(request.answered - request.at)}${past}${changed}`.replace("  ", " ");
}

const about = ({ resource, name }) => (name ? ` about ${resource}/${name}` : "");

function callText(call, system) {
  const what = call.text.startsWith(call.verb) ? call.text : `${call.verb} ${call.text}`; // a statement begins with its verb
  return `${what}, to ${system}${about(call)}: ${callOutcome(call)}`;
}

function callOutcome(call) {
  const by = call.effect === "reject" ? " by a fault" : call.effect ? ` (${EFFECTS[call.effect]}, by a fault)` : "";
  if (call.rejected) return `refused ${call.code}`.trim() + by;
  if (call.lost) return `it never heard whether it was done${call.executed === null ? "" : call.executed ? "; it was" : "; it was not"}${by}`;
  if (call.answered === null) return "no answer was seen";
  return `answered ${call.code}`.trim() + ` after ${duration(call.answered - call.at)}${by}`;
}

const code = (request) => (request.code ? `${request.code} ${request.reason}`.trim() : "");

function eventText(event) {
  const of = event.lane ? ` (${event.lane})` : "";
  return `${event.kind}${of}${event.says ? `: ${event.says}` : ""}`;
}
