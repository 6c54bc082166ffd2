// The times above a timeline.
import { axisTop } from "d3-axis";
import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { el } from "./dom.js";
import { lower } from "./sorted.js";

export const AXIS = 26;
const APART = 64; // pixels between two times
const MANY = 40; // cuts in sight

/** `{element, draw(view)}`. */
export function axis() {
  const element = el("div", { class: "axis", "aria-hidden": "true" });
  const svg = select(element).append("svg");
  return {
    element,
    draw(view) {
      const ticks = [];
      let last = -Infinity;
      for (const place of candidates(view)) {
        const x = view.zoomed(place);
        if (x <= view.left + 4 || x > view.width || x - last <= APART) continue;
        ticks.push(place);
        last = x;
      }
      svg.attr("width", view.width).attr("height", AXIS).selectAll("g").data([0]).join("g").attr("transform", `translate(0,${AXIS - 2})`)
        .call(axisTop(view.zoomed).tickValues(ticks).tickFormat((place) => label(view.time.moment(place))).tickSizeOuter(0));
    },
  };
}

const label = (at) => (at < 60 ? `${Number(at.toFixed(3))} s` : `${Math.floor(at / 60)}:${(at % 60).toFixed(1).padStart(4, "0")}`);

/** Places of round times between the cuts, and of the times behind these; where there are many cuts, places as far apart as texts. */
function candidates({ zoomed, time, gaps, left, width }) {
  const [low, high] = [Math.max(0, zoomed.invert(left)), Math.min(1, zoomed.invert(width))];
  const [i, j] = [lower(gaps.to, low), lower(gaps.from, high)];
  if (j - i > MANY) return Array.from({ length: Math.ceil((width - left) / (APART + 10)) }, (_, n) => zoomed.invert(left + n * (APART + 10)));
  const edges = [low, ...Array.from({ length: j - i }, (_, n) => [gaps.from[i + n], gaps.to[i + n]]).flat(), high];
  const places = [];
  for (let n = 0; n + 1 < edges.length; n += 2) {
    const [a, b] = [edges[n], edges[n + 1]];
    if (b <= a) continue;
    const room = Math.floor((zoomed(b) - zoomed(a)) / 75);
    const round = room < 1 ? [] : scaleLinear([time.moment(a), time.moment(b)], [0, 1]).ticks(room);
    places.push(...(round.length ? round.map(time.place) : [a]));
  }
  return places.sort((a, b) => a - b);
}
