import assert from "node:assert/strict";
import { test } from "node:test";
import { whole } from "../src/defaults.js";
import { marks, witnessNumbers } from "../src/marks.js";

const TALE = { requirement: "r", severity: "duplicated", headline: "h", remedy: "", lines: [{ line: 1, at: 1, says: "", entries: [7, 9] }, { line: 2, at: 2, says: "", entries: [12] }] };
const OBJECT = {
  uid: "u", namespace: "n", name: "w-a",
  revisions: [{ entry: 9, at: 1, revision: 5, type: "ADDED", by: "controller", request: 3 }],
  shown: [{ entry: 12, at: 3, life: 1, revision: 5, means: "frame" }],
  stale: [{ entry: 9, revision: 5, since: 1, until: 3 }],
};
const TIMELINE = whole({
  title: "t", seconds: 4, lanes: [{ name: "pods", objects: [OBJECT] }], tales: [TALE],
  requests: [{ number: 3, entry: 7, at: 0.9, answer: 8, answered: 1.1, verb: "create", lane: "pods", name: "w-a", code: 201, changed: [9] },
    { number: 4, entry: 20, at: 3.5, verb: "delete", lane: "pods", name: "w-a", code: 500, rejected: true }],
});

test("entries of the story have the number of its line", () => {
  assert.deepEqual([...witnessNumbers(TALE)], [[7, 1], [9, 1], [12, 2]]);
  assert.deepEqual(marks(TIMELINE).map((mark) => [mark.kind, mark.entry, mark.witness]), [["write", 7, 1], ["truth", 9, 1], ["shown", 12, 2], ["write", 20, undefined]]);
});

test("each entry is told in words", () => {
  assert.deepEqual(marks(TIMELINE).map((mark) => mark.text), [
    "create pods/w-a: answered 201 after 200 ms, 1 revision committed",
    "w-a was created by the controller (resourceVersion 5); shown 2 s later",
    "it was shown w-a at resourceVersion 5, by a frame",
    "delete pods/w-a: rejected by a fault 500",
  ]);
});

test("a line of the story that no entry stands for has a mark of its own", () => {
  const { tales: [tale], ...rest } = TIMELINE;
  const more = { ...tale, lines: [...tale.lines, { line: 3, at: 2.5, says: "its metrics said so", entries: [99] }] };
  const found = marks({ ...rest, tales: [more] }).find((mark) => mark.witness === 3);
  assert.deepEqual([found.kind, found.entry, found.text], ["told", 99, "its metrics said so"]);
});

const SYSTEM = {
  name: "db",
  calls: [{ number: 1, entry: 30, at: 1, answer: 31, answered: 1.5, verb: "CREATE", text: "CREATE ROLE r", changes: true, resource: "accounts", name: "a" },
    { number: 2, entry: 32, at: 2, answer: 33, answered: 2, verb: "CREATE", text: "CREATE ROLE q", changes: true, code: "57P03", rejected: true, executed: false, effect: "reject", fault: 0 },
    { number: 3, entry: 34, at: 3, answer: 35, answered: 3, verb: "DROP", text: "DROP ROLE r", changes: true, lost: true, executed: true, effect: "stall", fault: 1 },
    { number: 4, entry: 36, at: 3.2, verb: "SELECT", text: "SELECT 1" }],
  notifications: [{ entry: 37, at: 3.4, channel: "roles", effect: "lose" }],
  drifts: [{ entry: 38, at: 3.5, change: "deleted", kind: "roles", external: "r" }],
  outages: [{ entry: 39, since: 3.6, state: "down" }, { entry: 26, since: 0.2, end: 27, until: 0.3, state: "slow", seconds: 2 }],
  things: [{ kind: "roles", external: "r", name: "a", seen: [{ entry: 29, at: 0.5, after: 0.1, change: "created" }, { entry: 40, at: 3.7, after: 3.5, change: "deleted" }] }],
};

test("what happened outside is told in words", () => {
  const found = marks(whole({ title: "t", seconds: 4, systems: [structuredClone(SYSTEM)] }));
  assert.deepEqual(found.map((mark) => [mark.kind, mark.text]), [
    ["turn", "db began to answer 2 s late"],
    ["turn", "db was up and in time again"],
    ["held", "roles/r of db was created between 100 ms and 500 ms"],
    ["call", "CREATE ROLE r, to db about accounts/a: answered after 500 ms"],
    ["call", "CREATE ROLE q, to db: refused 57P03 by a fault"],
    ["call", "DROP ROLE r, to db: it never heard whether it was done; it was (never answered, by a fault)"],
    ["look", "SELECT 1, to db: no answer was seen"],
    ["notice", "notification of db on roles: it was lost, by a fault"],
    ["drift", "roles/r of db was deleted by another user"],
    ["turn", "db went down"],
    ["held", "roles/r of db was deleted between 3.5 s and 3.7 s"],
  ]);
});
