// Where a moment is on the axis: a fraction from 0 to 1, in one of three ways.
//
// `cut`: a gap in which nothing happens is as wide as a long gap between others, and no wider; it is marked. `linear`: as the clock
// says. `order`: all moments one step apart.

export const WAYS = ["cut", "linear", "order"];
const LEAST = 0.01; // seconds: shorter gaps are never cut
const USUAL = 0.8; // of all gaps so many are not cut
const TIMES = 5;

/** `{place(at), moment(fraction), gaps}` over these moments (seconds, in any order). `gaps`: `{from, to}` in seconds, those cut. */
export function clock(moments, way = "cut") {
  const apart = new Set(moments);
  if (apart.size < 2) apart.add(([...apart][0] ?? 0) + 1);
  const times = Float64Array.from(apart).sort();
  const widths = times.slice(1).map((time, i) => time - times[i]);
  const most = way === "cut" ? widest(widths) : Infinity;
  const shown = way === "order" ? widths.map(() => 1) : widths.map((width) => Math.min(width, most));
  const total = shown.reduce((sum, width) => sum + width, 0);
  const places = new Float64Array(times.length);
  for (let i = 0; i < shown.length; i += 1) places[i + 1] = places[i] + shown[i] / total;
  return {
    times,
    place: (at) => between(at, times, places),
    moment: (fraction) => between(fraction, places, times),
    gaps: Array.from(widths.keys()).filter((i) => widths[i] > most).map((i) => ({ from: times[i], to: times[i + 1] })),
  };
}

function widest(widths) {
  const sorted = widths.slice().sort();
  return Math.max(LEAST, TIMES * sorted[Math.floor((sorted.length - 1) * USUAL)]);
}

/** On the polyline through (from[i], to[i]); outside of it the nearest end. */
function between(value, from, to) {
  if (value <= from[0]) return to[0];
  if (value >= from.at(-1)) return to.at(-1);
  let low = 0;
  let high = from.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (from[middle] <= value) low = middle;
    else high = middle;
  }
  return to[low] + ((value - from[low]) / (from[high] - from[low])) * (to[high] - to[low]);
}
