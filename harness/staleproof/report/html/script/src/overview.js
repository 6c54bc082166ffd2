// The first screen: the verdict, what it is about, findings, what was tried of each requirement, and what was not.
import { el, told } from "./dom.js";
import { plural } from "./text.js";

export const SIGNS = { failed: "\u2717", inconclusive: "?", passed: "\u2713", "not exercised": "\u2013" };
const LONG = 70;
const MOST_CARDS = 6;
const MOST_BESIDE = 8; // scenarios: with more the table takes all of the width
const ORDER = ["failed", "inconclusive", "passed", "not exercised"];

export const word = (said) => said.replace(" ", "-");
export const result = (said) => el("span", { class: `result ${word(said)}` }, `${SIGNS[said]} ${said}`);
/** Of a requirement that decides nothing it is told apart. */
const decides = ({ result: said, scored }) => scored || said === "passed" || said === "not exercised";
const rated = (row) => (decides(row) ? result(row.result) : el("span", { class: "result aside" }, `${SIGNS[row.result]} not scored`));

/** Its sections. `onCell(requirement, scenario)`: when the trials behind a number are asked for; none for a trial alone. */
export function overview(page, onFinding, onCell) {
  return [header(page), cards(page, onFinding), el("div", { class: page.scenarios.length > MOST_BESIDE ? "" : "trying" }, matrix(page, onCell), untried(page))];
}

function header({ verdict, sentence, subject, reproduce, rows, trials }) {
  const isLong = ([, value]) => value.length > LONG;
  const facts = (some) => some.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, told(value, 2000))));
  const more = subject.filter(isLong);
  return el("header", {},
    el("p", { class: "brand" }, "staleproof"),
    el("div", { class: "headline" }, el("h1", { class: word(verdict) }, `${SIGNS[verdict]} ${verdict}`), tiles(rows, trials)),
    el("p", { class: "lead" }, told(sentence)),
    el("dl", { class: "facts" }, facts(subject.filter((each) => !isLong(each)))),
    more.length || reproduce ? el("details", { class: "more" }, el("summary", {}, "How to run it again, and more about the run"), reproduce ? el("pre", { class: "command" }, told(reproduce, 4000)) : null, el("dl", {}, facts(more))) : null);
}

/** How many requirements came to which result. */
function tiles(rows, trials) {
  const counts = [...ORDER.map((said) => [said, rows.filter((row) => decides(row) && row.result === said).length]), ["not scored", rows.filter((row) => !decides(row)).length]].filter(([, count]) => count);
  return el("ul", { class: "tiles", "aria-label": "requirements by result" },
    counts.map(([said, count]) => el("li", { class: `tile ${word(said)}` }, el("strong", {}, String(count)), ` ${said}`)),
    el("li", { class: "tile" }, el("strong", {}, String(trials.length)), trials.length === 1 ? " trial" : " trials"));
}

function cards({ findings, questions, aside, verdict }, onFinding) {
  const about = findings.length ? el("ol", { class: "cards" }, findings.slice(0, MOST_CARDS).map((finding, n) => card(finding, n, onFinding))) : el("p", { class: verdict === "passed" ? "none" : "" }, verdict === "passed" ? "\u2713 None." : "None.");
  const rest = findings.slice(MOST_CARDS).map((finding, n) => el("li", {}, el("a", { href: `#finding-${n + MOST_CARDS + 1}`, click: () => onFinding(n + MOST_CARDS) },
    el("span", { class: "severity" }, finding.severity || "failed"), " ", told(finding.cause || finding.headline)), el("span", { class: "dim" }, ` ${finding.requirements[0]} \u00b7 ${plural(finding.trials.length, "trial")}`)));
  const apart = aside.length ? el("details", { class: "apart" }, el("summary", {}, `${plural(aside.length, "finding")} not scored: about provisional requirements, or under what no API server does`), el("ul", {}, aside.map((line) => el("li", {}, told(line, 800))))) : null;
  const open = questions.length ? el("p", {}, el("a", { href: "#question-1" }, `${plural(questions.length, "reason")} why something stayed inconclusive`), ", below.") : null;
  return el("section", {}, el("h2", {}, findings.length ? plural(findings.length, "finding") : "Findings"), about, rest.length ? el("ol", { class: "rest", start: String(MOST_CARDS + 1) }, rest) : null, apart, open);
}

function card(finding, n, onFinding) {
  const aside = [finding.requirements.join(", "), plural(finding.trials.length, "trial"), finding.reproduced].filter(Boolean);
  return el("li", { class: "card" }, el("a", { href: `#finding-${n + 1}`, click: () => onFinding(n) },
    el("span", { class: "severity" }, finding.severity || "failed"),
    el("strong", {}, told(finding.cause || finding.headline)),
    finding.cause ? el("span", {}, told(finding.headline)) : null,
    el("span", { class: "dim" }, aside.join(" \u00b7 "))));
}

/** Requirements by scenarios: how many trials came to which result. The worst first, and what is not scored last. */
function matrix({ scenarios, rows }, onCell) {
  const tried = rows.filter((row) => row.result !== "not exercised").sort((a, b) => Number(decides(b)) - Number(decides(a)) || ORDER.indexOf(a.result) - ORDER.indexOf(b.result));
  if (!tried.length) return null;
  const head = el("tr", {}, ["requirement", "result", ...scenarios].map((name) => el("th", { scope: "col" }, told(name))));
  const body = tried.map((row) => el("tr", {},
    el("th", { scope: "row", title: row.must }, row.requirement, row.level === "core" ? null : el("span", { class: "dim" }, ` ${row.level}`)),
    el("td", {}, rated(row)), row.cells.map((cell, i) => counts(cell, row.requirement, scenarios[i], onCell))));
  return el("section", { id: "tried" }, el("h2", {}, "What was tried"),
    el("p", { class: "dim" }, `Trials of each scenario: \u2717 failed, ? inconclusive, \u2713 passed${onCell ? "; a number leads to them" : ""}. A dot: nothing in it could have shown a violation.`),
    el("div", { class: "scroll wide", tabindex: "0", role: "region", "aria-label": "requirements by scenarios" }, el("table", { class: "matrix" }, el("thead", {}, head), el("tbody", {}, body))));
}

function counts(cell, requirement, scenario, onCell) {
  const said = ORDER.slice(0, 3).filter((said, i) => cell[i]);
  if (!said.length) return el("td", { class: "count dim" }, el("span", { "aria-label": "not exercised", role: "img" }, "\u00b7"));
  const label = `${requirement}, ${scenario}: ${said.map((each) => `${cell[ORDER.indexOf(each)]} ${each}`).join(", ")}`;
  const numbers = said.map((each) => el("span", { class: `result ${word(each)}` }, `${SIGNS[each]}${cell[ORDER.indexOf(each)]}`)).flatMap((each, i) => (i ? [" ", each] : [each]));
  if (!onCell) return el("td", { class: "count", title: label }, numbers);
  return el("td", { class: "count" }, el("button", { type: "button", class: "link", title: label, click: () => onCell(requirement, scenario) }, numbers));
}

function untried({ rows, notTried }) {
  const idle = rows.filter((row) => row.result === "not exercised");
  if (!idle.length && !notTried.length) return null;
  return el("section", { id: "untried" }, el("h2", {}, "What was not tried"),
    notTried.length ? el("ul", {}, notTried.map((line) => el("li", {}, told(line)))) : null,
    idle.length ? el("details", {}, el("summary", {}, `${plural(idle.length, "requirement")} not exercised`), el("dl", {}, idle.flatMap((row) => [el("dt", {}, row.requirement), el("dd", {}, told(row.why || row.must))]))) : null);
}
