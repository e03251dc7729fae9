// The held-out users of a split, shard by shard, as an evaluation takes them.

import { throwIfAborted } from '../errors.js';
import type { HeldOutPiece, SplitFrame } from '../evaluate/evaluate-shards.js';
import { buildGraph } from '../graph/build.js';
import { fingerprint } from '../graph/fingerprint.js';
import { type BipartiteGraph, createGraph, degrees } from '../graph/graph.js';
import type { Split } from '../sample/split-types.js';
import { type PartitionedData, readShard } from './partition-folder.js';
import type { OpenedSplit } from './split-partition.js';

/** What a split in shards says beside its held-out users. */
export function frameOfPartition(split: OpenedSplit): SplitFrame {
  const { seed, testUsers, testItems, train, test, itemCoins } = split;
  return {
    ...{ seed, testUsers, testItems, itemAssignment: itemCoins, fingerprint: split.fingerprint },
    train: { ids: train.itemIds, degree: train.itemDegree, fingerprint: train.fingerprint },
    testIds: test.itemIds,
  };
}

/** The same of a split in one piece. */
export function frameOfSplit(split: Split): SplitFrame {
  const { seed, testUsers, testItems, train, test, assignment: coins } = split;
  const { items } = train;
  return {
    ...{ seed, testUsers, testItems, itemAssignment: coins.items, fingerprint: split.fingerprint },
    train: { ids: items.ids, degree: degrees(items), fingerprint: fingerprint(train) },
    testIds: test.items.ids,
  };
}

export async function* heldOutPieces(
  { shards, foldIn, test }: OpenedSplit,
  { signal, onShard }: { readonly signal?: AbortSignal; readonly onShard?: (shard: number) => void } = {},
): AsyncGenerator<HeldOutPiece> {
  for (let s = 0; s < shards; s++) {
    throwIfAborted(signal);
    onShard?.(s);
    yield { foldIn: foldIn ? await graphOf(foldIn, s) : NOTHING, test: await graphOf(test, s) };
  }
}

const NOTHING = buildGraph({ users: [], items: [], userCount: 0, itemCount: 0, multigraph: false });

async function graphOf(parts: PartitionedData, shard: number): Promise<BipartiteGraph> {
  const { ids, ...byUser } = await readShard(parts, shard);
  return createGraph({ userIds: ids, itemIds: parts.itemIds, byUser });
}
