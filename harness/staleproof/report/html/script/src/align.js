// A run without the faults beside a trial: its steps stand where the same steps of the trial do.

/** Where a moment of `other` stands in the time of `timeline`, in seconds. Between two steps a moment is as long after the first as it
 * was there, unless the trial was quicker: then that stretch is pressed together. */
export function aligned(timeline, other) {
  const pairs = [[0, 0], ...matched(timeline.steps, other.steps)];
  const ends = [...pairs.slice(1), [timeline.seconds, other.seconds]];
  return (at) => {
    let i = 0;
    while (i + 1 < pairs.length && pairs[i + 1][1] <= at) i += 1;
    const [here, there] = pairs[i];
    const [room, length] = [ends[i][0] - here, ends[i][1] - there];
    return here + (at - there) * (length > room && length > 0 ? room / length : 1);
  };
}

/** Steps that do the same, one after the other: when each began, here and there. */
function matched(steps, others) {
  const pairs = [];
  let next = 0;
  for (const other of others) {
    const found = steps.findIndex((step, i) => i >= next && step.does === other.does);
    if (found < 0) continue;
    pairs.push([steps[found].since, other.since]);
    next = found + 1;
  }
  return pairs;
}
