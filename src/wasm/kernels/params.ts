// @ts-nocheck: AssemblyScript. The host reads the types of exported functions (instantiate.ts).
// Parameters that the host passes to the kernels of a half-step: one block per job and one per unit of work.
// ../parameter-blocks.ts has the same fields in the same order; a test compares the two.

/** What the units of a job share. Addresses refer to this memory. */
@unmanaged
export class JobBlock {
  /** The table: two arrays of rows float32, then three of rows × stride float32. */
  weightShape: u32;
  weightRate: u32;
  featureShape: u32;
  featureRate: u32;
  activity: u32;
  /** The other table's activities B. */
  other: u32;
  /** stride float32 each: M_k, the other side's mass; and a mask with all bits set in the lanes of real features, 0 in padding. */
  otherMass: u32;
  laneMask: u32;
  /** rows × stride int64: expected counts in fixed point. */
  counts: u32;
  features: u32;
  stride: u32;
  /** 1: activities are exp(E log ·); 0: means. */
  geometric: u32;
  /** 1: compute the edge term. */
  withTerm: u32;
  /** 1: the other table exceeds a core's own cache, so prefetch its rows. */
  prefetch: u32;
  /** Only for foldFresh: number of half-steps, and the means of the weights (rows float32). */
  steps: u32;
  freshWeights: u32;
  sigma: f64;
  tau: f64;
  shape: f64;
  rate: f64;
  relaxation: f64;
  relaxationFloor: f64;
  shapeFloor: f64;
  activityFloor: f64;
  /** A fixed-point count is the count times this. */
  scale: f64;
  /** Only for foldFresh: the first mean of every feature. */
  firstFeature: f64;
}

/** One unit: rows first … last−1 and the window with their edges, or a piece of one long row. */
@unmanaged
export class UnitBlock {
  first: u32;
  last: u32;
  /** The window's copy of offsets[first … last]. Its edges begin at offsets[first]. */
  offsets: u32;
  neighbors: u32;
  /** 0: a simple graph. */
  edgeCounts: u32;
  /** Numbers of the tiled rows, in order: those of the unit's slots, or those among first … last−1. 0: no row is tiled. */
  tiledRows: u32;
  /** Edges of a piece. */
  edges: u32;
  /** Sums of the pieces of a long row (stride float64 each), and how many there are. */
  pieceSums: u32;
  pieces: u32;
  /** Sums of tiled rows (stride float32 each). 1: a tile adds to them; 0: it sets them. */
  tileSums: u32;
  addsTile: u32;
  /** stride float64 that receive the rows' mass; 0: compute only the edge term. */
  mass: u32;
}

export function jobBytes(): u32 {
  return offsetof<JobBlock>();
}

export function unitBytes(): u32 {
  return offsetof<UnitBlock>();
}

// What the host has bound: the job of the next units, and this worker's scratch and unit.
export let job: JobBlock = changetype<JobBlock>(0);
export let unit: UnitBlock = changetype<UnitBlock>(0);
export let scratch: usize = 0;
/** Bytes of a row of float32. */
export let rowBytes: usize = 0;

export function bindJob(at: usize): void {
  job = changetype<JobBlock>(at);
  rowBytes = (<usize>job.stride) << 2;
}

export function bindWorker(scratchAt: usize, unitAt: usize): void {
  scratch = scratchAt;
  unit = changetype<UnitBlock>(unitAt);
}
