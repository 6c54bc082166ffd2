import assert from "node:assert/strict";
import { test } from "node:test";
import { whole } from "../src/defaults.js";
import { marks } from "../src/marks.js";
import { paint } from "../src/paint.js";
import { panel } from "../src/panel.js";

const COLOURS = Object.fromEntries(["text", "dim", "line", "paper", "panel", "truth", "shown", "stale", "hold", "own", "bad", "accent"].map((name) => [name, name]));

/** A pen that notes what is written, and in which colour what is filled. */
function noted() {
  const [texts, filled, dashes] = [[], [], []];
  const does = {
    fillText: (text) => texts.push(text), fillRect: () => filled.push(pen.fillStyle), setLineDash: (dash) => dash.length && dashes.push(pen.strokeStyle),
    measureText: (text) => ({ width: 6 * text.length }),
  };
  const pen = new Proxy({}, { get: (kept, name) => does[name] ?? kept[name] ?? (() => {}), set: (kept, name, value) => ((kept[name] = value), true) });
  return { pen, texts, filled, dashes };
}

/** What is on the canvas. */
function painted(timeline, open) {
  const made = panel(timeline, marks(timeline), { top: 0, open: new Set(open), shows: () => true, wanted: () => true, found: () => true, place: (at) => at / timeline.seconds });
  const zoomed = Object.assign((place) => 100 + 1000 * place, { invert: (x) => (x - 100) / 1000 });
  const gaps = { from: Float64Array.of(0.5), to: Float64Array.of(0.6), seconds: [1] };
  const { pen, ...told } = noted();
  paint(pen, { left: 100, width: 1100, height: made.bottom, scroll: 0, zoomed, panels: [made], gaps, colours: { ...COLOURS, hatched: { stale: "hatched stale", hold: "hatched hold" } }, selected: null });
  return told;
}

const shown = (life, replica) => ({ entry: 12, at: 2, life, revision: 5, means: "frame", replica });
const object = (showings) => ({ uid: "u", namespace: "n", name: "w-a", revisions: [{ entry: 1, at: 1, revision: 5, type: "ADDED" }], shown: showings, stale: showings.map(({ replica }) => ({ entry: 1, revision: 5, since: 1, until: 2, replica })) });
const made = (more, showings = [shown(1, 0)]) => whole({
  title: "t", seconds: 10, lives: [{ life: 1, since: 0 }], steps: [{ number: 1, entry: 0, since: 0, does: "apply Widget/w" }],
  lanes: [{ name: "pods", objects: [object(showings)], behind: [{ at: 1, revisions: 3 }, { at: 2, revisions: 0 }] }], ...more,
});

test("rows say what they are, over what else is there", () => {
  const { texts } = painted(made({}), ["pods"]);
  for (const text of ["1 apply Widget/w", "life 1", "3 behind", "its writes", "w-a", "1 s"]) assert.ok(texts.includes(text), `${text} in ${texts}`);
  assert.ok(texts.indexOf("1 apply Widget/w") > texts.indexOf("1 s"), "what is cut hides no words");
});

test("an external system is drawn: when it was down, what was lost, and what was there", () => {
  const call = (number, more) => ({ number, entry: 20 + number, at: number, verb: "PUT", text: "/r", changes: true, ...more });
  const systems = [{
    name: "store", calls: [call(1, { answer: 30, answered: 1.5 }), call(2, { lost: true }), call(3, { rejected: true })], notifications: [{ entry: 40, at: 4, channel: "c", effect: "lose" }],
    drifts: [{ entry: 41, at: 5, change: "deleted", kind: "k", external: "r" }], outages: [{ entry: 42, since: 6, end: 43, until: 7, state: "down" }, { entry: 44, since: 8, state: "slow", seconds: 2 }],
    things: [{ kind: "k", external: "r", seen: [{ entry: 45, at: 1, after: 0, change: "created" }, { entry: 46, at: 6, after: 5, change: "deleted" }] }],
  }];
  const { texts, dashes, filled } = painted(made({ systems }), ["pods", "store"]);
  for (const text of ["\u25be store (1)", "its calls", "notifications", "k/r", "down", "answers 2 s late"]) assert.ok(texts.includes(text), `${text} in ${texts}`);
  assert.ok(dashes.includes("own") && dashes.includes("text"), "a lost answer, and a lost notification");
  assert.equal(filled.filter((colour) => colour === "truth").length, 2, "the pod, and what was there");
});

test("each replica has a half of its own, and a leader a band", () => {
  const lives = [{ life: 1, since: 0 }, { life: 1, since: 0, replica: 1 }];
  const halves = (more, showings) => painted(made({ replicas: ["one", "two"], lives, ...more }, showings), ["pods"]).filled;
  const count = (filled, colour) => filled.filter((each) => each === colour).length;
  const both = [shown(1, 0), shown(1, 1)];
  assert.deepEqual([count(halves({}, both), "shown"), count(halves({}, [shown(1, 0)]), "shown")], [2, 1]);
  assert.deepEqual([count(halves({}, both), "accent"), count(halves({ leaders: [{ replica: 1, since: 1 }] }, both), "accent")], [0, 1]);
});
