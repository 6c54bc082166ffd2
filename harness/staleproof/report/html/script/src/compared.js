// What the controller did in each step, beside what it did in the runs without the faults.
import { el, told } from "./dom.js";
import { plural } from "./text.js";

/** A table of this trial. Where the trial differs from every other run, its number stands out, and the usual one is beside it. */
export function compared({ runs, steps, deeds, left }, trial) {
  const differs = ({ did, least, most }) => did.some((count, i) => count < least[i] || count > most[i]);
  const head = el("tr", {}, el("th", { scope: "col" }, "the controller's writes"), steps.map((step) => el("th", { scope: "col" }, told(step))), el("th", { scope: "col" }, "in all"));
  const rows = deeds.map((deed) => el("tr", {}, el("th", { scope: "row" }, told(deed.what)), [...deed.did.keys()].map((i) => cell(deed, i)), total(deed)));
  const ends = left.map((deed) => el("tr", {}, el("th", { scope: "row" }, `${deed.what} at the end`), el("td", { colspan: String(steps.length) }, ""), cell(deed, 0)));
  const apart = deeds.filter(differs).length + left.filter(differs).length;
  return el("div", {},
    el("p", { class: "dim" }, `Writes that changed something, by the step of the workload that they came after, beside ${plural(runs, "run")} without the faults. ${apart ? "Marked: as in none of these." : "Nothing differs."}`),
    el("div", { class: "scroll wide", tabindex: "0", role: "region", "aria-label": `writes of ${trial} by steps` }, el("table", { class: "compared" }, el("thead", {}, head), el("tbody", {}, rows, ends))));
}

function cell({ did, least, most }, i) {
  return counted(did[i], least[i], most[i]);
}

/** Beside the sums of the least and of the most. */
function total({ did, least, most }) {
  const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);
  return counted(sum(did), sum(least), sum(most));
}

function counted(count, least, most) {
  const usual = least === most ? String(least) : `${least}\u2013${most}`;
  if (count >= least && count <= most) return el("td", { class: "usual" }, count ? String(count) : "\u00b7");
  return el("td", { class: "unusual" }, el("strong", {}, String(count)), el("span", { class: "dim" }, ` not ${usual}`));
}
