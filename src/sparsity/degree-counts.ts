/** How many vertices have each degree: distinct degrees, ascending, and the number of vertices of each. */
export interface DegreeCounts {
  readonly degree: Float64Array;
  readonly vertices: Float64Array;
  /** Total number of vertices, and the sum of their degrees. */
  readonly count: number;
  readonly sum: number;
}

/** An array counts smaller degrees, a map larger ones: heavy tails have few distinct large degrees. */
const ARRAY_LIMIT = 65536;

/** Groups degrees by value. Vertices of degree 0 do not belong to the graph and are left out. */
export function countDegrees(degrees: ArrayLike<number>): DegreeCounts {
  let largest = 0;
  for (let v = 0; v < degrees.length; v++) if (degrees[v] > largest) largest = degrees[v];
  const limit = Math.min(ARRAY_LIMIT, largest + 1);
  const small = new Float64Array(limit);
  const large = new Map<number, number>();
  for (let v = 0; v < degrees.length; v++) {
    const d = degrees[v];
    if (d < limit) small[d]++;
    else large.set(d, (large.get(d) ?? 0) + 1);
  }
  const pairs: [number, number][] = [];
  for (let d = 1; d < limit; d++) if (small[d] > 0) pairs.push([d, small[d]]);
  pairs.push(...[...large].sort((a, b) => a[0] - b[0]));
  return {
    degree: Float64Array.from(pairs, (p) => p[0]),
    vertices: Float64Array.from(pairs, (p) => p[1]),
    count: pairs.reduce((sum, p) => sum + p[1], 0),
    sum: pairs.reduce((sum, p) => sum + p[0] * p[1], 0),
  };
}

/** Expected number of vertices that keep an edge if each neighbour is kept with probability `level`. */
export function expectedSurvivors(counts: DegreeCounts, level: number): number {
  if (level >= 1) return counts.count;
  const logMiss = Math.log1p(-level);
  let sum = 0;
  for (let n = 0; n < counts.degree.length; n++) {
    sum -= counts.vertices[n] * Math.expm1(counts.degree[n] * logMiss);
  }
  return sum;
}

/** The smallest degree at or below which at least `share` of the vertices lie. */
export function degreeQuantile(counts: DegreeCounts, share: number): number {
  let below = 0;
  for (let n = 0; n < counts.degree.length; n++) {
    below += counts.vertices[n];
    if (below >= share * counts.count) return counts.degree[n];
  }
  return counts.degree.at(-1) ?? 0;
}
