// What crosses from the host into the kernels of a half-step: two blocks in memory, one per job and one per unit of work.
// cpu/blocks.ts has the same fields in the same order, and a test holds the two together.

/** What a job's units have in common. Addresses are those of this memory. */
@unmanaged
export class JobBlock {
  /** The table: rows float32 each, then rows × stride float32 each. */
  weightShape: u32;
  weightRate: u32;
  featureShape: u32;
  featureRate: u32;
  activity: u32;
  /** The other table's activities B. */
  other: u32;
  /** stride float32: M_k, the other side's mass; and a mask whose lanes are all ones for real features, 0 for padding. */
  otherMass: u32;
  laneMask: u32;
  /** rows × stride int64: expected counts in fixed point. */
  counts: u32;
  features: u32;
  stride: u32;
  /** 1: exp(E log ·) is shown; 0: the mean. */
  geometric: u32;
  /** 1: the edge term is taken. */
  withTerm: u32;
  /** 1: the other table is larger than a core's own cache, so that its rows are asked for ahead. */
  far: u32;
  /** Where rows are made anew: half-steps, one after the other. */
  steps: u32;
  sigma: f64;
  tau: f64;
  shape: f64;
  rate: f64;
  relaxation: f64;
  relaxationFloor: f64;
  shapeFloor: f64;
  activityFloor: f64;
  /** Fixed-point counts are this many to 1. */
  scale: f64;
  /** Where rows are made anew: the mean of each feature that they begin with. (That of the weight is in weightShape.) */
  firstFeature: f64;
}

/** One unit: rows first … last−1 and the window with their edges, or a piece of one long row. */
@unmanaged
export class UnitBlock {
  first: u32;
  last: u32;
  /** The window's copy of offsets[first … last]; its edges begin at offsets[first]. */
  offsets: u32;
  neighbors: u32;
  /** 0: a simple graph. */
  edgeCounts: u32;
  /** Rows that are walked by tiles, in order: those of the unit's slots, or those among first … last−1; 0: none is. */
  tiledRows: u32;
  /** Edges of a piece. */
  edges: u32;
  /**
   * Sums of pieces (stride float64 each) from here on, and how many there are; or sums of tiled rows (stride float32 each),
   * and whether they are added to.
   */
  slots: u32;
  pieces: u32;
  /** stride float64, to which the rows' mass is added; 0: no update, only the edge term. */
  mass: u32;
}

export function jobBytes(): u32 {
  return offsetof<JobBlock>();
}

export function unitBytes(): u32 {
  return offsetof<UnitBlock>();
}

/** Scratch of this worker. */
export let scratch: usize = 0;

export function bindScratch(at: usize): void {
  scratch = at;
}
