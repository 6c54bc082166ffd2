import assert from "node:assert/strict";
import { test } from "node:test";
import { revisionsBehind, secondsBehind, thinned } from "../src/behind.js";

const LANE = {
  behind: [{ at: 1, revisions: 1 }, { at: 2, revisions: 2 }, { at: 4, revisions: 0 }],
  objects: [{ stale: [{ since: 2, until: 4 }] }, { stale: [{ since: 1, until: 3 }] }],
};

test("revisions behind begin at none and last to the end", () => {
  assert.deepEqual(revisionsBehind(LANE, 9), [[0, 0], [1, 1], [2, 2], [4, 0], [9, 0]]);
});

test("seconds behind are the age of the oldest that was not shown", () => {
  assert.deepEqual(secondsBehind(LANE, 9), [[0, 0], [1, 0], [2, 1], [2, 1], [3, 2], [3, 1], [4, 2], [4, 0], [9, 0]]);
});

test("what is never shown grows old until the end", () => {
  assert.deepEqual(secondsBehind({ objects: [{ stale: [{ since: 1, until: null }] }] }, 5), [[0, 0], [1, 0], [5, 4]]);
});

test("of more points than pixels the most of each pixel stays", () => {
  const points = Array.from({ length: 10_000 }, (_, i) => [i / 1000, i === 5003 ? 7 : 0]);
  const thin = thinned(points, 10, 100);
  assert.equal(thin.length, 100);
  assert.ok(thin.some(([at, value]) => at === 5.003 && value === 7));
});
