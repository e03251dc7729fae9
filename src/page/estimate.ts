// Rough estimates of memory and time before work starts. The first rates are round guesses. Once this tab has read or fitted
// something, its own speed is used. bench/page.ts measures the rates of a machine.

/** Bytes of a row while it is read: the pair, both orders of edges, and a share of the ids. */
const ROW_BYTES = 40;
/** Rows a second. */
const ROWS_A_SECOND = 600_000;
/** Edges × features × sweeps a second, for one thread. */
const FIT_RATE = 30e6;
/** Sweeps that most fits take to converge. */
const USUAL_SWEEPS = 150;
/** Bytes of a vertex and feature: shapes, rates and activities in float32. */
const FACTOR_BYTES = 16;

let readRate: number | undefined;
let fitRate: number | undefined;

/** Remembers how fast rows were read. */
export function learnReading(rows: number, seconds: number): void {
  if (seconds > 0.2) readRate = rows / seconds;
}

/** Remembers how fast a fit was. */
export function learnRate(edges: number, features: number, sweeps: number, seconds: number): void {
  if (seconds > 0.5) fitRate = (edges * features * sweeps) / seconds;
}

export interface Need {
  readonly bytes: number;
  readonly seconds: number;
}

export function needToRead(rows: number): Need {
  return { bytes: rows * ROW_BYTES, seconds: rows / (readRate ?? ROWS_A_SECOND) };
}

export function needToFit(
  { users, items, edges }: { readonly users: number; readonly items: number; readonly edges: number },
  features: number,
  iterations: number,
  threads: number,
): Need {
  const rate = fitRate ?? FIT_RATE * threads;
  return {
    bytes: edges * ROW_BYTES + (users + items) * features * FACTOR_BYTES,
    seconds: (edges * features * Math.min(iterations, USUAL_SWEEPS)) / rate,
  };
}

/** The shares of a side that can be chosen. */
export const SHARES = [1, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01] as const;

/** The need of reading a table of which a random share is kept: every row is read, few are kept. */
export function needToThin(whole: Need, { users, items }: { users: number; items: number }): Need {
  return { bytes: whole.bytes * users * items, seconds: whole.seconds };
}

/** The largest share of both sides that takes at most half of a tab's memory: a fit needs as much again. */
export function shareThatFits(whole: Need, cap: number): number {
  return SHARES.find((share) => whole.bytes * share * share <= cap / 2) ?? SHARES[SHARES.length - 1];
}

/** The memory that a browser is likely to give one tab: half of the device's, at most 4 GB. */
export function memoryCap(): number {
  const gigabytes = (navigator as { readonly deviceMemory?: number }).deviceMemory ?? 4;
  return Math.min(4, gigabytes / 2) * 1e9;
}
