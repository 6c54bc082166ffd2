// How far behind the controller was kept in a trial: a picture of revisions, and one of seconds.
import { revisionsBehind, secondsBehind, thinned } from "./behind.js";
import { el, told } from "./dom.js";
import { lines } from "./pictures.js";
import { duration } from "./text.js";

const SERIES = ["one", "two", "three", "four"];
const WIDTH = 560;

/** Nothing, if it never was behind. */
export function staleness({ lanes, seconds }) {
  const late = lanes.filter((lane) => lane.behind.length).sort((a, b) => peak(b.behind) - peak(a.behind)).slice(0, SERIES.length);
  if (!late.length) return null;
  const thin = (points) => thinned(points, seconds, WIDTH);
  const revisions = late.map((lane, i) => ({ name: SERIES[i], steps: true, points: thin(revisionsBehind(lane, seconds)) }));
  const ages = late.map((lane, i) => ({ name: SERIES[i], points: thin(secondsBehind(lane, seconds)) }));
  const oldest = Math.max(...ages.flatMap(({ points }) => points.map(([, value]) => value)));
  const ends = ["0 s", duration(seconds)];
  const most = (lane) => `${lane.name} ${peak(lane.behind)}`;
  return el("div", { class: "pictures" },
    figure("Revisions not shown", lines({ each: revisions, label: `Revisions committed and not shown, at most: ${late.map(most).join(", ")}`, tick: String, seconds, ends, width: WIDTH }), late),
    figure("Age of the oldest of them", lines({ each: ages, label: `The oldest revision not shown was ${duration(oldest)} old at most`, tick: (value) => `${value} s`, seconds, ends, width: WIDTH }), late));
}

const peak = (behind) => behind.reduce((most, each) => Math.max(most, each.revisions), 0);

function figure(title, picture, late) {
  return el("figure", {}, el("figcaption", {}, title), picture,
    el("ul", { class: "legend" }, late.map((lane, i) => el("li", {}, el("span", { class: `sign line ${SERIES[i]}`, "aria-hidden": "true" }), told(lane.name)))));
}
