// Lines and shapes.

export function hatch(pen, x, y, width, height, colour, gap) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  pen.strokeStyle = colour;
  const from = Math.max(x, -height);
  const to = Math.min(x + width, pen.canvas.width);
  pen.beginPath();
  for (let at = from - height - ((from - height) % gap); at < to; at += gap) {
    pen.moveTo(at, y + height);
    pen.lineTo(at + height, y);
  }
  pen.stroke();
  pen.restore();
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
