// Pictures of numbers: a picture for each question, as SVG, whose text a screen reader finds and a printer draws.
import { scaleLinear } from "d3-scale";
import { svg } from "./dom.js";

const HEIGHT = 150;
const MARGIN = { left: 44, right: 8, top: 10, bottom: 22 };

/** A picture with a scale on the left, from `least` to `most`. `label`: what it shows, in a sentence; `tick(value)`: how a value of the
 * scale is written; `parts({x, y})` are its shapes. */
function picture({ label, width = 400, least = 0, most, tick, ends }, parts) {
  const height = HEIGHT;
  const x = scaleLinear([0, 1], [MARGIN.left, width - MARGIN.right]);
  const y = scaleLinear([least, most > least ? most : least + 1], [height - MARGIN.bottom, MARGIN.top]).nice(3);
  const lines = y.ticks(3).flatMap((value) => [
    svg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }),
    svg("text", { x: MARGIN.left - 5, y: y(value) + 4, "text-anchor": "end" }, tick(value)),
  ]);
  const below = ends.map((text, i) => svg("text", { x: i ? width - MARGIN.right : MARGIN.left, y: height - 6, "text-anchor": i ? "end" : "start" }, text));
  return svg("svg", { class: "picture", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, lines, below, parts({ x, y }));
}

/** Bars beside one another. `each`: `{title, parts: [[class, value]]}`, the first part next to zero; what is negative hangs down. */
export function bars({ each, label, tick, ends }) {
  const sums = each.map(({ parts }) => parts.reduce((all, [, value]) => all + value, 0));
  return picture({ label, least: Math.min(0, ...sums), most: Math.max(0, ...sums), tick, ends }, ({ x, y }) => each.map((bar, n) => {
    const [from, to] = [x(n / each.length), x((n + 1) / each.length)];
    const gap = Math.min(2, (to - from) * 0.15);
    let sum = 0;
    const rects = bar.parts.map(([name, value]) => {
      const [one, other] = [y(sum), y(sum + value)];
      sum += value;
      return svg("rect", { class: `bar ${name}`, x: from + gap, width: Math.max(0.5, to - from - 2 * gap), y: Math.min(one, other), height: Math.abs(one - other) });
    });
    return svg("g", {}, svg("title", {}, bar.title), svg("rect", { class: "hit", x: from, width: to - from, y: MARGIN.top, height: HEIGHT - MARGIN.top - MARGIN.bottom }), rects);
  }));
}

/** Lines over seconds. `each`: `{name, points: [[at, value]], steps}`; with `steps` a value lasts to the next. */
export function lines({ each, label, tick, seconds, ends, width }) {
  const most = Math.max(0, ...each.flatMap(({ points }) => points.map(([, value]) => value)));
  return picture({ label, most, tick, ends, width }, ({ x, y }) => each.map(({ name, points, steps }) => {
    const path = points.map(([at, value], i) => {
      const [px, py] = [x(at / seconds).toFixed(1), y(value).toFixed(1)];
      return i === 0 ? `M${px},${py}` : steps ? `H${px}V${py}` : `L${px},${py}`;
    });
    return svg("path", { class: `line ${name}`, d: path.join("") });
  }));
}
