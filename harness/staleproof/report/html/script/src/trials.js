// The trials of a run as a table, which numbers of the matrix lead to.
import { el, told } from "./dom.js";
import { SIGNS, result, word } from "./overview.js";
import { duration, plural } from "./text.js";

const HEADS = ["trial", "result", "scenario", "plan", "faults fired", "time", "recovered in", "writes (without faults)"];

/** `{element, only(requirement, scenario)}`; neither for a trial alone. */
export function trials({ trials: every }) {
  if (every.length < 2) return {};
  const body = el("tbody");
  const about = el("p", { class: "dim", "aria-live": "polite" });
  const all = el("button", { type: "button", class: "save", click: () => show(every, "") }, "all trials");
  const head = el("thead", {}, el("tr", {}, HEADS.map((name) => el("th", { scope: "col" }, name))));
  const box = el("details", {}, el("summary", {}, plural(every.length, "trial")), about,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "trials" }, el("table", {}, head, body)));
  const element = el("section", { id: "trials" }, el("h2", {}, "Trials"), box, el("p", { class: "dim" }, "The timeline of any of them, where its history was kept: staleproof report html TRIAL"));

  function show(some, requirement) {
    body.replaceChildren(...some.map((trial) => row(trial, requirement)));
    about.replaceChildren(...(requirement ? [`${plural(some.length, "trial")}: ${requirement}. `, all] : []));
  }

  show(every, "");
  return {
    element,
    only(requirement, scenario) {
      show(every.filter((trial) => trial.scenario === scenario && Object.hasOwn(trial.verdicts, requirement)), requirement);
      box.open = true;
      element.scrollIntoView({ block: "start" });
      box.querySelector("summary").focus({ preventScroll: true });
    },
  };
}

function row({ name, title, scenario, result: worst, faults, seconds, recovered, writes, verdicts }, requirement) {
  const said = Object.hasOwn(verdicts, requirement) ? verdicts[requirement] : worst;
  const usual = writes ? (writes.least === writes.most ? writes.least : `${writes.least}\u2013${writes.most}`) : "";
  return el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: word(said), title: SIGNS[said] }, result(said)), el("td", {}, told(scenario)), el("td", {}, told(title)),
    el("td", {}, faults), el("td", { class: "number" }, duration(seconds)), el("td", { class: "number" }, recovered === null || recovered === undefined ? "" : duration(recovered)),
    el("td", { class: "number" }, writes ? `${writes.did} (${usual})` : ""));
}
