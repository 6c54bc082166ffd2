import assert from "node:assert/strict";
import { test } from "node:test";
import { whole } from "../src/defaults.js";
import { layout } from "../src/layout.js";
import { marks } from "../src/marks.js";
import { stays } from "../src/panel.js";

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
