import assert from "node:assert/strict";
import { test } from "node:test";
import { aligned } from "../src/align.js";

const steps = (...pairs) => pairs.map(([does, since]) => ({ does, since }));
const TRIAL = { seconds: 30, steps: steps(["apply", 1], ["rest", 2], ["patch", 20]) };
const CALM = { seconds: 5, steps: steps(["apply", 0.5], ["patch", 3]) };

test("a step stands where the same step of the trial does", () => {
  const there = aligned(TRIAL, CALM);
  assert.deepEqual([0, 0.5, 3].map(there), [0, 1, 20]);
});

test("between steps nothing is stretched", () => {
  assert.equal(aligned(TRIAL, CALM)(1.5), 2);
  assert.equal(aligned(TRIAL, CALM)(4), 21);
});

test("what took longer than in the trial is pressed together, so that steps stay in order", () => {
  const quick = { seconds: 3, steps: steps(["apply", 1], ["patch", 2]) };
  const there = aligned(quick, CALM);
  assert.equal(there(1.75), 1.5);
  assert.ok(there(2.99) < there(3));
});

test("a step that only one of them has aligns nothing", () => {
  assert.equal(aligned({ seconds: 9, steps: steps(["patch", 4]) }, CALM)(3), 4);
  assert.equal(aligned({ seconds: 9, steps: [] }, CALM)(3), 3);
});
