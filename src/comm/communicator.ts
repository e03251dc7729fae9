// Ranks: processes, or parts of one process, that compute together. Each calls the same operations in the same order; an
// operation ends when all ranks have called it.

/** Arrays that ranks add up. Whole numbers give the same bits in any order; floats do if one rank sets each position. */
export type Addable = Float64Array | BigInt64Array;

export interface Communicator {
  /** 0 … size−1. Rank 0 prints and writes. */
  readonly rank: number;
  readonly size: number;
  /** The machine, for messages. */
  readonly host: string;
  /** How the ranks are connected, for people; empty if there is one rank. */
  readonly description: string;
  /** Adds up the arrays of all ranks; each then holds the sum. */
  sum(values: Addable): Promise<void>;
  /** Copies the bytes of rank `from` to rank `to`, into an array of equal length. The other ranks do not wait. */
  transfer(bytes: Uint8Array, from: number, to: number): Promise<void>;
  /** Ends every rank, including this process. */
  abort(status: number): void;
  /** Call it after the last operation. */
  close(): Promise<void>;
}

export const ALONE: Communicator = Object.freeze({
  rank: 0,
  size: 1,
  host: '',
  description: '',
  async sum() {},
  async transfer() {},
  abort() {},
  async close() {},
});

/** Whether `says` is true on any rank. */
export async function anyRank(communicator: Communicator, says: boolean): Promise<boolean> {
  const sum = Float64Array.of(says ? 1 : 0);
  await communicator.sum(sum);
  return sum[0] > 0;
}
