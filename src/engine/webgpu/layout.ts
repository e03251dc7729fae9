// How the lanes of the GPU share a row of features. A row of K features is `quads` = ⌈K/4⌉ vectors of four. In the edge pass, `lanes`
// lanes share an edge and each holds `perLane` quads, so that reading K = 32 features takes eight adjacent loads of 16 bytes. A *team*
// of lanes works on one task: on `team / lanes` edges in parallel, with `steps` such groups in flight to hide memory latency.

export interface Tuning {
  /** Lanes that share an edge; a power of two. */
  readonly lanes: number;
  /** Edges in flight per lane; a power of two, at most `lanes`. */
  readonly steps: number;
  /** Lanes of a team for a long task; a power of two. */
  readonly team: number;
  /** Invocations of a workgroup of the edge pass. */
  readonly workgroup: number;
  /** Most edges of a task. */
  readonly block: number;
  /** Bytes of the other table that concurrent tasks read from; 0: all of it. */
  readonly tile: number;
  /** Whether to use subgroups if the device has them. */
  readonly subgroups: boolean;
  /** Most edges of one binding of the edge index. Tests lower it. */
  readonly chunkEdges: number;
}

export interface Layout extends Omit<Tuning, 'chunkEdges'> {
  readonly features: number;
  readonly quads: number;
  readonly perLane: number;
  /** Tasks of at most this many edges get a team of only `lanes` lanes. */
  readonly short: number;
}

/** Limits on registers: a lane keeps perLane quads of its row, of its sum, and of each edge in flight. */
const MOST_PER_LANE = 8;
const MOST_IN_FLIGHT = 8;
const PLAIN_WORKGROUP = 64;

export function chooseLayout(features: number, subgroupSize: number, tuning: Partial<Tuning>): Layout {
  const quads = Math.ceil(features / 4);
  // Defaults measured on an H200 (docs/appendix/performance.md).
  const block = tuning.block ?? 2048;
  const tile = tuning.tile ?? 16 * 2 ** 20;
  const base = { features, quads, block, tile };
  const widest = Math.max(1, Math.min(subgroupSize, 32));
  let lanes = Math.min(tuning.lanes ?? powerOfTwo(quads), widest, powerOfTwo(quads));
  const perLane = Math.ceil(quads / lanes);
  if ((tuning.subgroups ?? true) && subgroupSize >= 4 && perLane <= MOST_PER_LANE) {
    let steps = Math.min(tuning.steps ?? 8, lanes);
    while (steps > 1 && steps * perLane > MOST_IN_FLIGHT) steps /= 2;
    const team = Math.max(lanes, Math.min(tuning.team ?? widest, widest));
    const workgroup = Math.max(tuning.workgroup ?? 32, team);
    // A short team takes its edges one after the other. Beyond three of its rounds, the wide team is as fast.
    const short = team > lanes ? 3 * steps : 0;
    return { ...base, subgroups: true, lanes, perLane, steps, team, workgroup, short };
  }
  // Without subgroups a workgroup is one team, and sums go through workgroup memory.
  lanes = Math.min(powerOfTwo(quads), PLAIN_WORKGROUP);
  return {
    ...base,
    subgroups: false,
    lanes,
    perLane: Math.ceil(quads / lanes),
    steps: 1,
    team: PLAIN_WORKGROUP,
    workgroup: PLAIN_WORKGROUP,
    short: 0,
  };
}

/** The least power of two that is at least n. */
export function powerOfTwo(n: number): number {
  let power = 1;
  while (power < n) power *= 2;
  return power;
}
