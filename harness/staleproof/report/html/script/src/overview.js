// The first screen: the verdict, what it is about, findings, what was tried of each requirement, and what was not.
import { el, told } from "./dom.js";
import { plural } from "./text.js";

const SIGNS = { failed: "\u2717", inconclusive: "?", passed: "\u2713", "not exercised": "\u2013" };
const LONG = 70;
const ORDER = ["failed", "inconclusive", "passed", "not exercised"];

export function overview(page, onFinding) {
  return el("main", { id: "top" }, header(page), cards(page, onFinding), el("div", { id: "findings" }), matrix(page), untried(page), trials(page));
}

function header({ verdict, sentence, subject, reproduce }) {
  const facts = (wanted) => subject.filter(([, value]) => wanted(value)).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, told(value, 2000))));
  const isLong = (value) => value.length > LONG;
  return el("header", {},
    el("p", { class: "brand" }, "staleproof"),
    el("h1", { class: word(verdict) }, `${SIGNS[verdict]} ${verdict}`),
    el("p", { class: "lead" }, told(sentence)),
    el("dl", { class: "facts" }, facts((value) => !isLong(value))),
    subject.some(([, value]) => isLong(value)) ? el("details", {}, el("summary", {}, "More about the run"), el("dl", {}, facts(isLong))) : null,
    reproduce ? el("details", {}, el("summary", {}, "How to run it again"), el("pre", {}, told(reproduce, 4000))) : null);
}

function cards({ findings }, onFinding) {
  if (!findings.length) return el("section", {}, el("h2", {}, "Findings"), el("p", {}, "None."));
  return el("section", {}, el("h2", {}, plural(findings.length, "finding")), el("ol", { class: "cards" }, findings.map((finding, n) => card(finding, n, onFinding))));
}

function card(finding, n, onFinding) {
  return el("li", { class: "card" }, el("a", { href: `#finding-${n + 1}`, click: () => onFinding(n) },
    el("span", { class: "severity" }, finding.severity || "failed"),
    el("strong", {}, told(finding.headline)),
    finding.cause ? el("span", {}, told(finding.cause)) : null,
    el("span", { class: "dim" }, `${finding.requirements.join(", ")} \u00b7 ${plural(finding.trials.length, "trial")}${finding.reproduced ? ` \u00b7 ${finding.reproduced}` : ""}`)));
}

/** Requirements by scenarios: how many trials came to which result. */
function matrix({ scenarios, rows }) {
  const tried = rows.filter((row) => row.result !== "not exercised");
  const head = el("tr", {}, el("th", { scope: "col" }, "requirement"), el("th", { scope: "col" }, "result"), scenarios.map((name) => el("th", { scope: "col" }, name)));
  const body = tried.map((row) => el("tr", {},
    el("th", { scope: "row", title: row.must }, row.requirement, row.level === "core" ? null : el("span", { class: "dim" }, ` ${row.level}`)),
    result(row.result), row.cells.map(counts)));
  return el("section", {}, el("h2", {}, "What was tried"),
    el("p", { class: "dim" }, "Trials of each scenario: \u2717 failed, ? inconclusive, \u2713 passed. A dot: nothing in it could have shown a violation."),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "requirements by scenarios" }, el("table", { class: "matrix" }, el("thead", {}, head), el("tbody", {}, body))));
}

const result = (said) => el("td", {}, el("span", { class: `result ${word(said)}` }, `${SIGNS[said]} ${said}`));

function counts(cell) {
  const told = ORDER.slice(0, 3).filter((said, i) => cell[i]).map((said) => `${SIGNS[said]}${cell[ORDER.indexOf(said)]}`);
  const worst = ORDER.find((said, i) => cell[i]) ?? "not exercised";
  return el("td", { class: `count ${told.length ? word(worst) : "dim"}` }, told.join(" ") || "\u00b7");
}

function untried({ rows, notTried }) {
  const idle = rows.filter((row) => row.result === "not exercised");
  if (!idle.length && !notTried.length) return null;
  return el("section", {}, el("h2", {}, "What was not tried"),
    notTried.length ? el("ul", {}, notTried.map((line) => el("li", {}, told(line)))) : null,
    idle.length ? el("details", {}, el("summary", {}, `${plural(idle.length, "requirement")} not exercised`), el("dl", {}, idle.flatMap((row) => [el("dt", {}, row.requirement), el("dd", {}, told(row.why || row.must))]))) : null);
}

function trials({ trials: every }) {
  if (every.length < 2) return null;
  const rows = every.map((trial) => el("tr", {}, el("td", {}, trial.name), result(trial.result), el("td", { class: "number" }, `${trial.seconds.toFixed(1)} s`), el("td", {}, told(trial.title))));
  const head = el("thead", {}, el("tr", {}, ["trial", "result", "time", "plan"].map((name) => el("th", { scope: "col" }, name))));
  return el("section", {}, el("details", {}, el("summary", {}, plural(every.length, "trial")), el("div", { class: "scroll", tabindex: "0" }, el("table", {}, head, el("tbody", {}, rows))),
    el("p", { class: "dim" }, "Of any other trial: staleproof report html TRIAL")));
}

const word = (said) => said.replace(" ", "-");
