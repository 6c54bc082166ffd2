// A finding: its story, its timeline, the plan as steps, the remedy, and how to see it again.
import { chart } from "./chart.js";
import { el, told } from "./dom.js";
import { duration } from "./text.js";

/** An element, drawn when it is first opened. `timeline` may be missing: the history was not kept. */
export function section(finding, n, timeline) {
  const body = el("div", { class: "body" });
  const box = el("details", { class: "finding", id: `finding-${n + 1}` },
    el("summary", {}, el("span", { class: "severity" }, finding.severity || "failed"), " ", told(finding.headline)), body);
  let drawn = false;
  box.addEventListener("toggle", () => {
    if (!box.open || drawn) return;
    drawn = true;
    fill(body, finding, timeline);
  });
  return box;
}

function fill(body, finding, timeline) {
  const tale = timeline?.tales[0];
  const lines = new Map();
  const picture = timeline ? chart(timeline, highlight) : null;
  function highlight(number) {
    for (const [each, line] of lines) line.classList.toggle("chosen", each === number);
  }
  const story = tale ? el("ol", { class: "story" }, tale.lines.map((each) => {
    const line = el("li", {}, el("button", { type: "button", class: "link", click: () => (highlight(each.line), picture.tell(each.line)) },
      el("span", { class: "number" }, duration(each.at)), " ", told(each.says, 2000)));
    lines.set(each.line, line);
    return line;
  })) : el("pre", {}, told(finding.story, 8000));
  body.append(...[
    tale?.heading ? el("p", { class: "heading" }, told(tale.heading)) : null,
    finding.cause ? el("p", {}, told(finding.cause), finding.requirements.length > 1 ? `; it violates ${finding.requirements.slice(1).join(", ")}, too` : "") : null,
    el("h3", {}, "What happened"), story,
    tale?.compared ? el("p", { class: "dim" }, `compared with runs: ${tale.compared}`) : null,
    el("h3", {}, "What was true, and what it had been shown"),
    picture?.element ?? el("p", {}, "The history of this trial is not in this file: staleproof report html TRIAL draws it, where it was kept."),
    el("h3", {}, "The plan"), plan(finding),
    el("h3", {}, "Remedy"), el("p", { class: "remedy" }, told(finding.remedy, 2000)),
    finding.replay ? el("h3", {}, "See it again") : null,
    finding.replay ? el("pre", {}, told(finding.replay, 2000)) : null,
  ].filter(Boolean));
  picture?.begin();
}

function plan({ steps, faults, shrunk }) {
  return el("div", { class: "plan" },
    el("ol", {}, steps.map((each) => el("li", {}, told(each)))),
    faults.length ? el("p", {}, "Meanwhile:") : null, faults.length ? el("ul", {}, faults.map((each) => el("li", {}, told(each)))) : null,
    shrunk ? el("p", { class: "dim" }, told(shrunk)) : null);
}
