// What the signs of a timeline mean.
import { el } from "./dom.js";

const ITEMS = [
  ["truth", "above: what was true"], ["shown", "below: what it had been shown"], ["stale", "shaded: true, and not shown"], ["hold", "a fault; \u25c6 when it did something"],
  ["own", "\u25c6 \u25bc the controller's write (\u25bd: nothing changed)"], ["other", "\u25cf another client's"], ["plain", "\u2502 frame  \u25a1 list  \u25b3 GET  \u25cb answer  \u2715 gone, rejected"],
];

const OUTSIDE = [["plain", "\u25b2 another user changed something in an external system"], ["plain", "\u25bd dashed: it never heard the answer"]];

const KEYS = "Drag to move, Ctrl with the wheel or a pinch to zoom. Keys: \u2190 \u2192 from entry to entry, + \u2212 zoom, h l move, 0 the whole trial, d the finding.";

const LEADER = [["leader", "its leader"]];

export const legend = ({ systems, leaders }) => el("div", {},
  el("ul", { class: "legend" }, [...ITEMS, ...(systems.length ? OUTSIDE : []), ...(leaders.length ? LEADER : [])].map(([sign, text]) => el("li", {}, el("span", { class: `sign ${sign}`, "aria-hidden": "true" }), text))),
  el("p", { class: "legend keys" }, KEYS));
