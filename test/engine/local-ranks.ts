// Several ranks in one process: the same calls as over a network.

import type { Addable, Communicator } from '../../src/comm/communicator.js';

/** A point where ranks meet: the last one to arrive combines the values of all. */
interface Meeting<T> {
  readonly brought: T[];
  readonly done: Promise<void>;
  readonly open: () => void;
  readonly fail: (reason: unknown) => void;
}

class RanksAborted extends Error {}

/** Creates `size` connected communicators, in order of rank. */
export function createLocalRanks(size: number): Communicator[] {
  const meetings = new Map<string, Meeting<unknown>>();
  let aborted: RanksAborted | undefined;

  async function meet<T>(name: string, rank: number, needed: number, own: T, act: (all: T[]) => void) {
    if (aborted) throw aborted;
    let meeting = meetings.get(name) as Meeting<T> | undefined;
    if (!meeting) {
      meeting = openMeeting<T>();
      meetings.set(name, meeting as Meeting<unknown>);
    }
    meeting.brought[rank] = own;
    if (Object.keys(meeting.brought).length === needed) {
      meetings.delete(name);
      act(meeting.brought);
      meeting.open();
    }
    await meeting.done;
  }

  return Array.from({ length: size }, (_, rank): Communicator => {
    // Each rank counts its own calls: the n-th call of one meets the n-th of the others.
    let sums = 0;
    const transfers = new Map<string, number>();
    return {
      rank,
      size,
      host: `rank ${rank}`,
      description: `${size} ranks in one process`,
      sum: (values) => meet(`sum ${sums++}`, rank, size, values, addAll),
      async transfer(bytes, from, to) {
        if (from === to || (rank !== from && rank !== to)) return;
        const pair = `${from} to ${to}`;
        const turn = transfers.get(pair) ?? 0;
        transfers.set(pair, turn + 1);
        await meet(`${pair} ${turn}`, rank, 2, bytes, (all) => all[to].set(all[from]));
      },
      abort(status) {
        aborted = new RanksAborted(`rank ${rank} has ended all ranks with status ${status}`);
        for (const meeting of meetings.values()) meeting.fail(aborted);
        meetings.clear();
      },
      async close() {},
    };
  });
}

function openMeeting<T>(): Meeting<T> {
  let open = () => {};
  let fail = (_reason: unknown) => {};
  const done = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { brought: [], done, open, fail };
}

function addAll(all: Addable[]): void {
  const [first, ...rest] = all;
  for (let i = 0; i < first.length; i++) {
    let sum = first[i];
    // All have one type, because ranks call the same operations.
    for (const other of rest) sum = ((sum as number) + (other[i] as number)) as typeof sum;
    for (const values of all) values[i] = sum;
  }
}
