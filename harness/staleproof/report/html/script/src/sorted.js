// Sorted columns of numbers, so that a frame costs what is in sight, and not what there is.

/** The first place whose value is not less. */
export function lower(column, value) {
  let low = 0;
  let high = column.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What lasts, as columns: stretches that overlap are one. `each`: `[from, to]`, in any order. */
export function spans(each) {
  const from = [];
  const to = [];
  for (const [a, b] of [...each].sort((one, other) => one[0] - other[0])) {
    if (from.length && a <= to[to.length - 1]) to[to.length - 1] = Math.max(to[to.length - 1], b);
    else {
      from.push(a);
      to.push(b);
    }
  }
  return { from: Float64Array.from(from), to: Float64Array.from(to) };
}

/** Those that meet low..high, `[from, to]` each; what is nearer together than `pixel` is one, so there are never more than pixels. */
export function* inSight({ from, to }, low, high, pixel) {
  for (let i = lower(to, low); i < from.length && from[i] <= high; ) {
    const begin = from[i];
    let end = to[i];
    for (let next = lower(from, end + pixel); next > i + 1; next = lower(from, end + pixel)) {
      i = next - 1;
      end = to[i];
    }
    yield [begin, end];
    i += 1;
  }
}

/** The most in each stretch, asked for often: `most(i, j)` of the values from i up to, without, j; one that is empty has none. */
export function pyramid(values) {
  const levels = [Float64Array.from(values)];
  while (levels.at(-1).length > 1) {
    const below = levels.at(-1);
    levels.push(Float64Array.from({ length: below.length >> 1 }, (_, i) => Math.max(below[2 * i], below[2 * i + 1])));
  }
  return (i, j) => {
    let most = -Infinity;
    for (let level = 0; i < j; level += 1) {
      if (i & 1) most = Math.max(most, levels[level][i++]);
      if (j & 1) most = Math.max(most, levels[level][--j]);
      i >>= 1;
      j >>= 1;
    }
    return most;
  };
}
