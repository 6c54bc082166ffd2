// What is left out of the JSON because it has its default.

const fill = (each, defaults) => {
  for (const key in defaults) each[key] ??= defaults[key];
  return each;
};
const TIMELINE = { replicas: ["controller"], lives: [], leaders: [], steps: [], bands: [], lanes: [], systems: [], metrics: [], requests: [], events: [], tales: [] };
const LANE = { primary: false, objects: [], kept: [], behind: [] };
const OBJECT = { revisions: [], shown: [], stale: [] };
const REVISION = { by: "user", request: 0, managers: [], deletes: false };
const REQUEST = { replica: 0, answer: null, answered: null, code: 0, reason: "", changed: [] };
const SYSTEM = { calls: [], notifications: [], drifts: [], outages: [], things: [] };
const CALL = { answer: null, answered: null, changes: false, resource: "", name: "", code: "", rejected: false, lost: false, executed: null, effect: null, fault: null };
const NOTIFICATION = { resource: "", name: "", effect: null, fault: null };
const EVENT = { replica: 0, lane: "", says: "", fault: null };
const TALE = { cause: "", also: [], likewise: [], heading: "", compared: "" };
const ENDS = { until: null };

/** The timeline with all of its fields; it is changed, not copied, because it may be long. */
export function whole(timeline) {
  fill(timeline, TIMELINE);
  for (const each of timeline.steps) fill(each, ENDS);
  for (const each of timeline.bands) fill(each, { until: null, fired: false });
  for (const each of timeline.lives) fill(each, { until: null, replica: 0 });
  for (const each of timeline.leaders) fill(each, ENDS);
  for (const each of timeline.lanes) lane(each);
  for (const each of timeline.systems) system(each);
  for (const each of timeline.requests) fill(each, REQUEST);
  for (const each of timeline.events) fill(each, EVENT);
  for (const each of timeline.tales) fill(each, TALE);
  return timeline;
}

function lane(each) {
  fill(each, LANE);
  for (const kept of each.kept) fill(kept, ENDS);
  for (const object of each.objects) {
    fill(object, OBJECT);
    for (const state of object.revisions) fill(state, REVISION);
    for (const showing of object.shown) fill(showing, { gone: false, replica: 0 });
    for (const stale of object.stale) fill(stale, { until: null, replica: 0 });
  }
}

/** What it holds has the fields that a panel asks objects for. */
function system(each) {
  fill(each, SYSTEM);
  for (const call of each.calls) fill(call, CALL);
  for (const told of each.notifications) fill(told, NOTIFICATION);
  for (const outage of each.outages) fill(outage, { end: null, until: null, seconds: 0 });
  for (const thing of each.things) {
    fill(thing, { resource: "", namespace: "", seen: [] });
    Object.assign(thing, { belongs: thing.name ?? "", name: `${thing.kind}/${thing.external}`, uid: `${each.name} ${thing.kind}/${thing.external}` });
  }
}
