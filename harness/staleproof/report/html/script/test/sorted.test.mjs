import assert from "node:assert/strict";
import { test } from "node:test";
import { inSight, lower, pyramid, spans } from "../src/sorted.js";

test("the first that is not less", () => {
  assert.deepEqual([0, 1, 2, 4, 9].map((value) => lower([1, 2, 2, 5], value)), [0, 0, 1, 3, 4]);
});

test("stretches that overlap or touch are one", () => {
  assert.deepEqual(spans([[4, 6], [0, 2], [1, 3], [6, 7]]), { from: Float64Array.from([0, 4]), to: Float64Array.from([3, 7]) });
});

test("in sight is what meets the window, and what is on one pixel is one", () => {
  const each = spans([[0, 1], [2, 3], [3.1, 3.2], [3.3, 3.4], [8, 9], [20, 21]]);
  assert.deepEqual([...inSight(each, 2.5, 10, 0.2)], [[2, 3.4], [8, 9]]);
  assert.deepEqual([...inSight(each, 2.5, 10, 0)], [[2, 3], [3.1, 3.2], [3.3, 3.4], [8, 9]]);
  assert.deepEqual([...inSight(each, 30, 40, 1)], []);
});

test("of a hundred thousand no more than pixels are looked at", () => {
  const many = spans(Array.from({ length: 100_000 }, (_, i) => [i / 1e5, (i + 0.4) / 1e5]));
  assert.ok([...inSight(many, 0, 1, 1 / 1000)].length <= 1000);
});

test("the most of any stretch is as if each were looked at", () => {
  const values = Array.from({ length: 37 }, (_, i) => (i * 7919) % 41);
  const most = pyramid(values);
  for (let i = 0; i <= 37; i += 1) for (let j = i; j <= 37; j += 1) assert.equal(most(i, j), Math.max(...values.slice(i, j)));
});
