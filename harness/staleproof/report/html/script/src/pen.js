// Lines and shapes.

/** A hatching that fills anything: stroked line by line it would be the dearest thing in a picture. */
export function hatching(pen, colour, gap) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = gap;
  const ink = tile.getContext("2d");
  ink.strokeStyle = colour;
  ink.lineWidth = 1.2;
  ink.beginPath();
  for (const shift of [-gap, 0, gap]) {
    ink.moveTo(shift - 1, gap + 1);
    ink.lineTo(shift + gap + 1, -1);
  }
  ink.stroke();
  return pen.createPattern(tile, "repeat");
}

export function line(pen, x1, y1, x2, y2, width = 1) {
  pen.lineWidth = width;
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
  pen.lineWidth = 1;
}

export function circle(pen, x, y, radius) {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
}

export function shape(pen, x, y, points) {
  pen.beginPath();
  for (const [dx, dy] of points) pen.lineTo(x + dx, y + dy);
  pen.closePath();
}

export function cross(pen, x, y, size, colour) {
  pen.strokeStyle = colour;
  line(pen, x - size, y - size, x + size, y + size, 2);
  line(pen, x - size, y + size, x + size, y - size, 2);
}

export function zigzag(pen, x, height) {
  pen.beginPath();
  for (let y = 0; y <= height; y += 5) pen.lineTo(x + (y % 10 ? 2 : -2), y);
  pen.stroke();
}
