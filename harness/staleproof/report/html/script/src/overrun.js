// Pictures over the trials of a run: where the time went, how much was written, how long it took to recover.
import { bars } from "./pictures.js";
import { el } from "./dom.js";
import { duration } from "./text.js";

const SPENT = { references: "runs without the faults", steps: "steps", hold: "holding", settle: "settling", after: "looking once more" };

const SECONDS = (value) => `${value} s`;
/** Of a power of two. */
const TIMES = (power) => (Number.isInteger(power) ? (power < 0 ? `1/${2 ** -power}` : `${2 ** power}\u00d7`) : "");

/** Nothing for a trial alone. */
export function overrun({ trials }) {
  if (trials.length < 2 || !trials.some((trial) => Object.keys(trial.spent).length)) return null;
  return el("section", { id: "run" }, el("h2", {}, "Over the run"), el("div", { class: "pictures" }, times(trials), recoveries(trials), writes(trials)));
}

function ends(trials) {
  return [trials[0].name, trials.at(-1).name];
}

function figure(title, picture, ...below) {
  return el("figure", {}, el("figcaption", {}, title), picture, ...below);
}

function times(trials) {
  const names = Object.keys(SPENT);
  const total = (name) => trials.reduce((sum, { spent }) => sum + (spent[name] ?? 0), 0);
  const each = trials.map(({ name, spent, title }) => ({
    title: `${name}: ${names.filter((part) => spent[part]).map((part) => `${SPENT[part]} ${duration(spent[part])}`).join(", ")}; ${title}`,
    parts: names.map((part) => [part, spent[part] ?? 0]),
  }));
  const told = names.filter(total).map((name) => `${SPENT[name]} ${duration(total(name))}`).join(", ");
  return figure("Where the time went", bars({ each, label: `Seconds of each trial. In all: ${told}`, tick: SECONDS, ends: ends(trials) }),
    el("ul", { class: "legend" }, names.filter(total).map((name) => el("li", {}, el("span", { class: `sign bar ${name}`, "aria-hidden": "true" }), `${SPENT[name]} ${duration(total(name))}`))));
}

function recoveries(trials) {
  const known = trials.filter(({ recovered }) => recovered !== null && recovered !== undefined).map(({ recovered }) => recovered).sort((a, b) => a - b);
  const each = trials.map(({ name, recovered, spent, title }) => ({
    title: recovered === null || recovered === undefined ? `${name}: it did not converge, or nothing says so; ${title}` : `${name}: ${duration(recovered)}; ${title}`,
    parts: [recovered === null || recovered === undefined ? ["never", spent.settle ?? 0] : ["settle", recovered]],
  }));
  const late = trials.length - known.length;
  const half = known.length ? duration(known[known.length >> 1]) : "none";
  return figure("From the release until all had converged", bars({ each, label: `Seconds of each trial; median ${half}, longest ${duration(known.at(-1) ?? 0)}; ${late} did not converge`, tick: SECONDS, ends: ends(trials) }),
    el("p", { class: "dim" }, `Median ${half}, longest ${duration(known.at(-1) ?? 0)}${late ? `; ${late} without a good end` : ""}.`));
}

function writes(trials) {
  const known = trials.filter((trial) => trial.writes);
  if (!known.length) return null;
  const ratio = ({ did, least, most }) => (did > most ? did / Math.max(1, most) : did < least ? Math.max(did, 0.5) / least : 1);
  const each = known.map(({ name, writes: each, title }) => ({
    title: `${name}: ${each.did} writes changed something, without the faults ${each.least === each.most ? each.least : `${each.least} to ${each.most}`}; ${title}`,
    parts: [[ratio(each) > 1 ? "more" : "less", Math.log2(ratio(each))]],
  }));
  const most = known.reduce((one, other) => (ratio(other.writes) > ratio(one.writes) ? other : one));
  const told = `most in ${most.name}: ${most.writes.did} instead of ${most.writes.most}`;
  return figure("Writes under faults \u00f7 writes without", bars({ each, label: `Of each trial; ${told}`, tick: TIMES, ends: ends(known) }),
    el("p", { class: "dim" }, ratio(most.writes) > 1 ? `The ${told}. The scale is logarithmic; below 1\u00d7 it wrote less.` : "In no trial it wrote more than without faults."));
}
