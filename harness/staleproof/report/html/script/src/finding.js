// A finding: its story, its timeline, the plan as steps, what it did otherwise, the remedy, and how to see it again.
import { chart } from "./chart.js";
import { compared } from "./compared.js";
import { download } from "./download.js";
import { el, told } from "./dom.js";
import { staleness } from "./staleness.js";
import { duration, plural, some } from "./text.js";

const MOST_TRIALS = 12;
const MOST_OBJECTS = 5;

/** An element, drawn when it is first opened. */
export function section(finding, n, timelines) {
  const head = el("summary", {}, el("span", { class: "severity" }, finding.severity || "failed"), " ", told(finding.headline));
  return folded({ class: "finding", id: `finding-${n + 1}` }, head, (body) => fill(body, finding, timelines));
}

/** The same of what stayed inconclusive. */
export function question(asked, n, timelines) {
  const head = el("summary", {}, el("span", { class: "severity open" }, "inconclusive"), " ", told(asked.why || "for no reason that was told"));
  return folded({ class: "finding", id: `question-${n + 1}` }, head, (body) => {
    const picture = drawn(asked.drawn, timelines);
    body.append(el("p", {}, `${asked.requirements.join(", ")} in ${plural(asked.trials.length, "trial")}: ${some(asked.trials, MOST_TRIALS)}`), ...picture.parts);
    picture.begin();
  });
}

function folded(attributes, head, draw) {
  const body = el("div", { class: "body" });
  const box = el("details", attributes, head, body);
  let done = false;
  box.addEventListener("toggle", () => {
    if (!box.open || done) return;
    done = true;
    draw(body);
  });
  return box;
}

function fill(body, finding, timelines) {
  const tale = timelines.get(finding.drawn?.timeline)?.tales[0];
  const lines = new Map();
  const picture = drawn(finding.drawn, timelines, highlight);
  function highlight(number) {
    for (const [each, line] of lines) line.classList.toggle("chosen", each === number);
  }
  const story = tale ? el("ol", { class: "story" }, tale.lines.map((each) => {
    const line = el("li", {}, el("button", { type: "button", class: "link", click: () => (highlight(each.line), picture.tell(each.line)) },
      el("span", { class: "number" }, duration(each.at)), " ", told(each.says, 2000)));
    lines.set(each.line, line);
    return line;
  })) : el("pre", {}, told(finding.story, 8000));
  const also = finding.requirements.length > 1 ? `, and with it ${finding.requirements.slice(1).join(", ")}` : "";
  const likewise = tale?.likewise.length ? [" The same happened to ", told(some(tale.likewise, MOST_OBJECTS)), "."] : null;
  body.append(...[
    tale?.heading ? el("p", { class: "heading" }, told(tale.heading)) : null,
    el("p", { class: "cause" }, finding.cause ? [told(finding.cause), ". "] : null, `It violates ${finding.requirements[0]}${also}.`, likewise),
    el("div", { class: "columns" },
      el("section", {}, el("h3", {}, "What happened"), story, tale?.compared ? el("p", { class: "dim" }, `compared with runs: ${tale.compared}`) : null,
        el("h3", {}, "Remedy"), el("p", { class: "remedy" }, told(finding.remedy, 2000))),
      el("section", {}, el("h3", {}, "The plan"), plan(finding), again(finding))),
    ...picture.parts,
  ].filter(Boolean));
  picture.begin();
}

/** What there is of a history: `{parts, begin(), tell(line)}`. */
export function drawn(each, timelines, onWitness) {
  const timeline = timelines.get(each?.timeline);
  const heading = el("h3", {}, "What was true, and what it had been shown");
  if (!timeline) return { parts: [heading, el("p", {}, "The history of this trial is not in this file: staleproof report html TRIAL draws it, where it was kept.")], begin() {}, tell() {} };
  const picture = chart(timeline, { reference: timelines.get(each.reference), onWitness });
  const far = staleness(timeline);
  const parts = [heading, picture.element];
  if (each.comparison) parts.push(el("h3", {}, "What it did, and what it does without the faults"), compared(each.comparison, each.timeline));
  parts.push(el("h3", {}, "How far behind it was kept"), far);
  return { parts, begin: picture.begin, tell: picture.tell };
}

function again({ replay, drawn: each, trials, reproduced }) {
  const more = trials.length > 1 ? `The same was found in ${some(trials, MOST_TRIALS)}. ` : "";
  return el("div", {}, el("h3", {}, "See it again"), replay ? el("pre", { class: "command" }, told(replay, 2000)) : null,
    el("p", { class: "dim" }, more, reproduced ? `It ${reproduced}.` : ""), each?.attachment ? download(each.attachment, trials[0]) : null);
}

function plan({ steps, faults, shrunk }) {
  return el("div", { class: "plan" },
    el("ol", {}, steps.map((each) => el("li", {}, told(each)))),
    faults.length ? el("p", {}, "Meanwhile:") : null, faults.length ? el("ul", {}, faults.map((each) => el("li", {}, told(each)))) : null,
    shrunk ? el("p", { class: "dim" }, told(shrunk)) : null);
}
