// How far behind the controller was kept: of a resource the revisions it had not been shown, and how old the oldest of them was.

/** `[at, revisions]` from here on. */
export function revisionsBehind(lane, seconds) {
  const points = [[0, 0], ...lane.behind.map(({ at, revisions }) => [at, revisions])];
  return [...points, [seconds, points.at(-1)[1]]];
}

/** `[at, seconds]`: a line from each to the next. It grows as the oldest that was not shown grows older. */
export function secondsBehind(lane, seconds) {
  const open = lane.objects.flatMap((object) => object.stale).map(({ since, until }) => ({ since, until: until ?? Infinity })).sort((a, b) => a.since - b.since);
  const moments = [...new Set(open.flatMap(({ since, until }) => [since, until]).filter(Number.isFinite))].sort((a, b) => a - b);
  const points = [[0, 0]];
  let oldest = 0;
  let begun = 0;
  for (const at of moments) {
    if (oldest < begun) points.push([at, at - open[oldest].since]);
    while (begun < open.length && open[begun].since <= at) begun += 1;
    while (oldest < begun && open[oldest].until <= at) oldest += 1;
    points.push([at, oldest < begun ? at - open[oldest].since : 0]);
  }
  return [...points, [seconds, oldest < begun ? seconds - open[oldest].since : 0]];
}

/** The same with no more points than a picture has pixels: of each pixel the most. */
export function thinned(points, seconds, pixels) {
  if (points.length <= 4 * pixels) return points;
  const most = new Map();
  for (const [at, value] of points) {
    const pixel = Math.floor((at / seconds) * pixels);
    if (!(most.get(pixel)?.[1] >= value)) most.set(pixel, [at, value]);
  }
  return [...most.values()];
}
