import assert from "node:assert/strict";
import { test } from "node:test";
import { duration, some, visible } from "../src/text.js";

test("what would act on a terminal or on the direction of a line is shown as a code", () => {
  assert.equal(visible("\u001b[31mred"), "\u27e8001b\u27e9[31mred");
  assert.equal(visible("a\u202egpj.exe"), "a\u27e8202e\u27e9gpj.exe");
  assert.equal(visible("a\u0000b\ufffd"), "a\u27e80000\u27e9b\ufffd");
});

test("ordinary text in any script stays as it is", () => {
  for (const text of ["pod/sample-x7k2q", "\u05e9\u05dc\u05d5\u05dd", "\u4f60\u597d", "a\tb\nc", "\ud83d\ude00", "</script>"]) assert.equal(visible(text), text);
});

test("a long text is cut, and says how long it is", () => {
  assert.equal(visible("x".repeat(1_000_000), 3), "xxx\u2026 (1,000,000 characters)");
  assert.ok(!/[\ud800-\udbff]\u2026/.test(visible("ab\ud83d\ude00cd", 3)));
});

test("seconds are told as people do", () => {
  assert.deepEqual([0.005, 1.25, 12, 125].map(duration), ["5 ms", "1.25 s", "12 s", "2 min 5 s"]);
});

test("of many names the first are said, and how many there are besides", () => {
  assert.equal(some(["a", "b"], 2), "a, b");
  assert.equal(some(["a", "b", "c", "d"], 2), "a, b and 2 more");
});
