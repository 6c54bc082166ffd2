import assert from "node:assert/strict";
import { test } from "node:test";
import { WAYS, clock } from "../src/clock.js";

const BURSTS = [0, 0.005, 0.01, 0.015, 12.015, 12.02, 12.025, 12.03];

test("a long gap between bursts is cut, and marked", () => {
  const { gaps, place } = clock(BURSTS);
  assert.deepEqual(gaps, [{ from: 0.015, to: 12.015 }]);
  assert.ok(place(0.015) > 0.2);
});

test("by the clock nothing is cut, and by order every moment is one step apart", () => {
  assert.deepEqual(clock(BURSTS, "linear").gaps, []);
  assert.ok(clock(BURSTS, "linear").place(0.015) < 0.01);
  assert.equal(clock(BURSTS, "order").place(0.005), 1 / 7);
});

test("a moment and its place lead to each other, and never go back", () => {
  for (const way of WAYS) {
    const { place, moment } = clock(BURSTS, way);
    const places = BURSTS.map(place);
    assert.deepEqual(places, [...places].sort((a, b) => a - b));
    for (const at of [0.0025, 6, 12.0222]) assert.ok(Math.abs(moment(place(at)) - at) < 1e-6);
  }
});

test("of one moment, and of none, there is an axis", () => {
  assert.equal(clock([3]).place(3), 0);
  assert.equal(clock([]).place(0), 0);
});
