// Ranks: processes, or parts of one, that compute together. Each calls the same operations in the same order; an operation
// ends when all have come to it.

/** Arrays that ranks add up: whole numbers give the same bits in any order, floats where each place has one giver. */
export type Addable = Float64Array | BigInt64Array;

export interface Communicator {
  /** 0 … size−1. Rank 0 prints and writes. */
  readonly rank: number;
  readonly size: number;
  /** The machine, for messages. */
  readonly host: string;
  /** What connects the ranks, for people; empty where there is one rank. */
  readonly description: string;
  /** Adds up the arrays of all ranks; each then holds the sum. */
  sum(values: Addable): Promise<void>;
  /** Copies the bytes of rank `from` to those of rank `to`, which has room for as many. The other ranks do not wait. */
  transfer(bytes: Uint8Array, from: number, to: number): Promise<void>;
  /** Copies the bytes of rank 0 to all. */
  broadcast(bytes: Uint8Array): Promise<void>;
  /** Ends every rank, this process too where it is one of them. */
  abort(status: number): void;
  /** After the last operation. */
  close(): Promise<void>;
}

/** One rank, which has nobody to wait for. */
export const ALONE: Communicator = Object.freeze({
  rank: 0,
  size: 1,
  host: '',
  description: '',
  async sum() {},
  async transfer() {},
  async broadcast() {},
  abort() {},
  async close() {},
});

/** Whether any rank says so. */
export async function anyRank(communicator: Communicator, says: boolean): Promise<boolean> {
  const sum = Float64Array.of(says ? 1 : 0);
  await communicator.sum(sum);
  return sum[0] > 0;
}
