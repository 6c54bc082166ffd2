import assert from "node:assert/strict";
import { test } from "node:test";
import { whole } from "../src/defaults.js";
import { layout, offset } from "../src/layout.js";
import { marks } from "../src/marks.js";
import { knowledge, panel, stays } from "../src/panel.js";

const seen = (at, change) => ({ entry: at * 10, at, after: at - 1, change });
const timeline = () => whole({
  title: "t", seconds: 9,
  lanes: [{ name: "pods", objects: [{ uid: "u", namespace: "n", name: "w", revisions: [{ entry: 1, at: 1, revision: 5, type: "ADDED" }] }] }],
  systems: [{
    name: "db",
    calls: [{ number: 1, entry: 30, at: 1, verb: "PUT", text: "/r", changes: true }],
    drifts: [{ entry: 31, at: 2, change: "deleted", kind: "roles", external: "r" }],
    outages: [{ entry: 32, since: 3, state: "down" }],
    things: [{ kind: "roles", external: "r", seen: [seen(1, "created"), seen(3, "deleted"), seen(5, "created")] }, { kind: "roles", external: "q", seen: [seen(2, "created")] }],
  }, { name: "store" }],
});
const drawn = (over) => layout(timeline(), { top: 0, open: new Set(), shows: (kind) => kind !== "look", wanted: () => true, ...over }).rows;
const outside = (rows) => rows.filter((row) => row.system).map(({ kind, label }) => `${kind} ${label}`);

test("an external system has a lane with its calls, and opens to what it held", () => {
  assert.deepEqual(outside(drawn({})), ["system db", "calls its calls", "system store", "calls its calls"]);
  assert.deepEqual(outside(drawn({ open: new Set(["db"]) })), ["system db", "calls its calls", "thing roles/r", "thing roles/q", "system store", "calls its calls"]);
});

test("a filter leaves what it names", () => {
  const rows = drawn({ open: new Set(["db"]), wanted: (object) => object.name === "roles/q" });
  assert.deepEqual(outside(rows), ["system db", "calls its calls", "thing roles/q"]);
});

test("each mark of an external system has a row, what it held only while that is shown", () => {
  const every = marks(timeline()).filter((mark) => mark.lane === "db");
  const rowed = (open) => every.map((mark) => layout(timeline(), { top: 0, open, shows: () => true, wanted: () => true }).rowOf(mark)?.kind);
  assert.deepEqual(every.map((mark) => mark.kind), ["held", "call", "held", "drift", "held", "turn", "held"]);
  assert.deepEqual(rowed(new Set(["db"])), ["thing", "calls", "thing", "system", "thing", "system", "thing"]);
  assert.deepEqual(rowed(new Set()), [undefined, "calls", undefined, "system", undefined, "system", undefined]);
});

test("what was there, and gone, and there again is two stretches", () => {
  assert.deepEqual(stays(timeline().systems[0].things[0]), [{ since: 1, until: 3 }, { since: 5, until: null }]);
});

const shown = (at, life, replica) => ({ entry: at * 10, at, life, revision: 5, means: "frame", replica });
const several = (...showings) => whole({
  title: "t", seconds: 9, replicas: ["one", "two"], lives: [{ life: 1, since: 0 }, { life: 2, since: 1, replica: 1 }],
  leaders: [{ replica: 1, since: 2 }],
  lanes: [{ name: "pods", objects: [{ uid: "u", namespace: "n", name: "w", revisions: [{ entry: 1, at: 1, revision: 5, type: "ADDED" }], shown: showings }] }],
  requests: [{ number: 1, entry: 30, at: 1, verb: "create", lane: "pods" }, { number: 2, entry: 31, at: 2, verb: "create", lane: "pods", replica: 1 }],
});
const OPEN = { top: 0, open: new Set(["pods"]), shows: () => true, wanted: () => true };

test("each replica has its rows, and one alone is not named", () => {
  const labels = (made) => layout(made, OPEN).rows.filter((row) => row.replica !== undefined).map((row) => row.label);
  assert.deepEqual(labels(several()), ["one: process", "one: writes", "one: reads", "two: process", "two: writes", "two: reads"]);
  assert.deepEqual(labels(timeline()), ["its process", "its writes", "its reads"]);
  const { rowOf } = layout(several(), OPEN);
  assert.deepEqual(marks(several()).filter((mark) => mark.kind === "write").map((mark) => rowOf(mark).label), ["one: writes", "two: writes"]);
});

test("an object has a half for each replica of which it is known what it had been shown", () => {
  const row = (...showings) => layout(several(...showings), OPEN).rows.find((each) => each.kind === "object");
  const [one, two] = [shown(2, 1, 0), shown(3, 2, 1)];
  assert.deepEqual([row().halves, row(one).halves, row(two).halves, row(one, two).halves], [[0], [0], [1], [0, 1]]);
  assert.ok(row(one, two).height > row(one).height);
  const every = marks(several(one, two)).filter((mark) => mark.kind === "shown");
  const [first, second] = every.map((mark) => offset(mark, row(one, two)));
  assert.ok(first < second && second < row(one, two).height);
});

test("what a replica believed is its own, and so is its leadership", () => {
  const made = several(shown(2, 1, 0), shown(3, 2, 1));
  const [object] = made.lanes[0].objects;
  assert.deepEqual([0, 1].map((replica) => knowledge(object, made, replica)), [[{ since: 2, until: null }], [{ since: 3, until: null }]]);
  const rows = panel(made, marks(made), { ...OPEN, place: (at) => at / 9, found: () => true }).rows.filter((row) => row.kind === "process");
  assert.deepEqual(rows.map((row) => row.lives.length), [1, 1]);
  assert.deepEqual(rows.map((row) => row.leads.from.length), [0, 1]);
});
