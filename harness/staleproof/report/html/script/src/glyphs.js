// What each kind of mark looks like: by shape first, and by colour.
import { circle, cross, line, shape } from "./pen.js";

export const GLYPHS = {
  truth: (pen, colours, { of }, x, y) => {
    pen.fillStyle = of.by === "controller" ? colours.own : colours.text;
    if (of.by === "controller") shape(pen, x, y, [[0, -6], [6, 0], [0, 6], [-6, 0]]);
    else circle(pen, x, y, 4);
    pen.fill();
    if (of.deletes) cross(pen, x, y, 7, colours.text);
  },
  shown: (pen, colours, { of }, x, y) => {
    pen.strokeStyle = pen.fillStyle = colours.text;
    if (of.gone) return cross(pen, x, y, 5, colours.text);
    if (of.means === "frame") return line(pen, x, y - 6, x, y + 6, 2);
    if (of.means === "list") shape(pen, x, y, [[-4, -4], [4, -4], [4, 4], [-4, 4]]);
    else if (of.means === "get") shape(pen, x, y, [[0, -5], [5, 4], [-5, 4]]);
    else circle(pen, x, y, 4);
    pen.fillStyle = colours.paper;
    pen.fill();
    pen.stroke();
  },
  write: (pen, colours, mark, x, y) => {
    pen.fillStyle = pen.strokeStyle = colours.own;
    shape(pen, x, y, [[-6, -5], [6, -5], [0, 6]]);
    if (mark.of.lost) pen.setLineDash([2, 2]);
    if (mark.of.lost || mark.of.rejected || !mark.of.changed.length) pen.stroke();
    else pen.fill();
    pen.setLineDash([]);
    if (mark.of.rejected) cross(pen, x, y, 8, colours.bad);
  },
  read: (pen, colours, mark, x, y) => {
    pen.strokeStyle = colours.dim;
    circle(pen, x, y, 3);
    pen.stroke();
    if (mark.of.rejected) cross(pen, x, y, 5, colours.bad);
  },
  fired: (pen, colours, mark, x, y) => {
    pen.fillStyle = colours.hold;
    shape(pen, x, y, [[0, -4], [4, 0], [0, 4], [-4, 0]]);
    pen.fill();
  },
  process: (pen, colours, { of }, x, y) => {
    if (of.kind === "killed" || of.kind === "exited") return cross(pen, x, y, 7, colours.bad);
    pen.fillStyle = pen.strokeStyle = colours.text;
    if (of.kind === "paused") for (const side of [-3, 3]) line(pen, x + side, y - 5, x + side, y + 5, 2);
    else shape(pen, x, y, [[-4, -5], [5, 0], [-4, 5]]);
    if (of.kind !== "paused") pen.fill();
  },
  call: (pen, colours, mark, x, y) => GLYPHS.write(pen, colours, { of: { ...mark.of, changed: mark.of.lost || mark.of.rejected ? [] : [mark.of.entry] } }, x, y),
  look: (pen, colours, mark, x, y) => {
    if (mark.of.lost) pen.setLineDash([2, 2]);
    GLYPHS.read(pen, colours, mark, x, y);
    pen.setLineDash([]);
  },
  notice: (pen, colours, { of }, x, y) => {
    pen.strokeStyle = pen.fillStyle = colours.text;
    if (of.effect === "lose") pen.setLineDash([2, 2]);
    shape(pen, x, y, [[-5, -5], [5, 0], [-5, 5], [-2, 0]]);
    pen.stroke();
    pen.setLineDash([]);
    if (of.effect === "lose") cross(pen, x, y, 6, colours.bad);
  },
  turn: (pen, colours, mark, x, y) => {
    pen.strokeStyle = colours.hold;
    line(pen, x, y - 12, x, y + 12, 2);
  },
  drift: (pen, colours, { of }, x, y) => {
    pen.fillStyle = colours.bad;
    shape(pen, x, y, [[0, -7], [7, 5], [-7, 5]]);
    pen.fill();
    if (of.change === "deleted") cross(pen, x, y, 8, colours.text);
  },
  held: (pen, colours, { of }, x, y) => {
    if (of.change === "deleted") return cross(pen, x, y, 5, colours.text);
    pen.strokeStyle = colours.text;
    line(pen, x, y - 6, x, y + 6, 2);
  },
  told: () => {},
  stream: (pen, colours, mark, x, y) => {
    pen.strokeStyle = colours.dim;
    line(pen, x, y - 5, x, y + 5, 1);
    if (mark.of.kind === "stream ended" || mark.of.kind === "watch refused") cross(pen, x, y, 4, colours.bad);
  },
};
