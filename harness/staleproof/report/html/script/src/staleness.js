// How far behind the controller was kept in a trial: a picture of revisions, and one of seconds; and what its own metrics say of it.
import { revisionsBehind, secondsBehind, thinned } from "./behind.js";
import { el, told } from "./dom.js";
import { lines } from "./pictures.js";
import { duration } from "./text.js";

const SERIES = ["one", "two", "three", "four"];
const TITLES = { informer: "Lacking in its informers, by its metrics", queue: "Depth of its queues, by its metrics" };
const WIDTH = 400;

/** What was kept from it, as far as anything was, and what it said itself. */
export function staleness(timeline) {
  const late = timeline.lanes.filter((lane) => lane.behind.length).sort((a, b) => peak(b.behind) - peak(a.behind)).slice(0, SERIES.length);
  const [informers, queues] = ["informer", "queue"].map((what) => picture(timeline, what, late.map((lane) => lane.name)));
  const figures = [...(late.length ? kept(timeline, late) : []), informers, queues].filter(Boolean);
  return el("div", {}, late.length ? null : el("p", {}, "It was behind in nothing."), figures.length ? el("div", { class: "pictures" }, figures) : null, el("p", { class: "dim" }, unknown(informers, queues)));
}

function kept({ seconds }, late) {
  const thin = (points) => thinned(points, seconds, WIDTH);
  const revisions = late.map((lane, i) => ({ name: SERIES[i], steps: true, points: thin(revisionsBehind(lane, seconds)) }));
  const ages = late.map((lane, i) => ({ name: SERIES[i], points: thin(secondsBehind(lane, seconds)) }));
  const oldest = Math.max(...ages.flatMap(({ points }) => points.map(([, value]) => value)));
  const ends = ["0 s", duration(seconds)];
  const names = late.map((lane) => lane.name);
  const most = (lane) => `${lane.name} ${peak(lane.behind)}`;
  return [
    figure("Revisions not shown", lines({ each: revisions, label: `Revisions committed and not shown, at most: ${late.map(most).join(", ")}`, tick: whole, seconds, ends, width: WIDTH }), names),
    figure("Age of the oldest of them", lines({ each: ages, label: `The oldest revision not shown was ${duration(oldest)} old at most`, tick: (value) => `${value} s`, seconds, ends, width: WIDTH }), names),
  ];
}

/** Of its metrics, reading by reading, those first that are `known` from the pictures before; nothing where none says so. */
function picture({ metrics, seconds }, what, known) {
  const rank = ({ of }) => (known.includes(of) ? known.indexOf(of) : known.length);
  const found = metrics.filter((each) => each.what === what).sort((a, b) => rank(a) - rank(b) || top(b) - top(a)).slice(0, SERIES.length);
  if (!found.length) return null;
  const each = found.map(({ readings }, i) => ({ name: SERIES[i], steps: true, points: thinned(readings, seconds, WIDTH) }));
  const most = found.map((one) => `${one.of} ${top(one)}`).join(", ");
  return figure(TITLES[what], lines({ each, label: `${TITLES[what]}, at most: ${most}`, tick: whole, seconds, ends: ["0 s", duration(seconds)], width: WIDTH }), found.map(({ of }) => of));
}

function unknown(informers, queues) {
  if (informers && queues) return "";
  if (!informers && !queues) return "How new its informers were and how deep its queues, by its own account, is not known: --controller-metrics says where its metrics are read, and they must have informer_store_resource_version.";
  return informers ? "How deep its queues were is not known: no reading of its metrics that was kept says so." : "How new its informers were is not known: its metrics do not have informer_store_resource_version.";
}

const whole = (value) => (Number.isInteger(value) ? String(value) : "");
const peak = (behind) => behind.reduce((most, each) => Math.max(most, each.revisions), 0);
const top = ({ readings }) => readings.reduce((most, [, value]) => Math.max(most, value), 0);

function figure(title, picture, names) {
  return el("figure", {}, el("figcaption", {}, title), picture,
    el("ul", { class: "legend" }, names.map((name, i) => el("li", {}, el("span", { class: `sign line ${SERIES[i]}`, "aria-hidden": "true" }), told(name)))));
}
