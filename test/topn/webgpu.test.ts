// Full rankings on the GPU against the CPU. Scores are whole numbers, so that both add them without rounding and
// ties are ties on both.

import { describe, expect, test } from 'vitest';
import { AbortError } from '../../src/errors.js';
import type { RowLists } from '../../src/math/csr.js';
import { randomStream } from '../../src/math/random.js';
import type { EngineName } from '../../src/options/names.js';
import { rank } from '../../src/predict/scoring/scorer.js';
import type { TaskOptions } from '../../src/progress.js';
import { rankByFactors } from '../../src/topn/cpu.js';
import type { FactorTables, RankQuery } from '../../src/topn/query.js';
import { createWebgpuTopN, type WebgpuTopNOptions } from '../../src/topn/webgpu.js';
import { findTestGpu, skipReason } from '../engine/swiftshader.js';

const gpu = await findTestGpu();
const random = randomStream(21);

function table(rows: number, features: number, most: number): Float32Array {
  return Float32Array.from({ length: rows * features }, () => random.below(2 * most + 1) - most);
}

/** Per row some positions of `from`, ascending; some rows have none. */
function someOf(rows: number, from: readonly number[], share: number): RowLists {
  const offsets = [0];
  const values: number[] = [];
  for (let r = 0; r < rows; r++) {
    const chance = r % 5 === 0 ? 0 : share * 2 * random.uniform();
    for (const position of from) if (random.uniform() < chance) values.push(position);
    offsets.push(values.length);
  }
  return { offsets: Uint32Array.from(offsets), values: Uint32Array.from(values) };
}

interface Size {
  readonly users: number;
  readonly items: number;
  readonly features: number;
  readonly depth: number;
  readonly top: number;
  /** Largest feature: small ones make many ties. */
  readonly most: number;
}

function problem({ users, items, features, depth, top, most }: Size) {
  // Two of three items are candidates; of these the first half is held out, a tenth is dropped in the second view.
  const candidates = Uint32Array.from({ length: items }, (_, i) => i).filter((i) => i % 3 !== 1);
  const positions = Array.from(candidates, (_, p) => p);
  const without = positions.filter((p) => p % 10 === 7);
  const heldOut = positions.filter((p) => p % 2 === 0);
  const excluded = someOf(
    users,
    positions.filter((p) => p % 2 === 1),
    0.3,
  );
  const relevant = someOf(users, heldOut, 0.1);
  const kept = someOf(
    users,
    heldOut.filter((p) => p % 10 !== 7),
    0.2,
  );
  const query: RankQuery = {
    candidates: candidates.length,
    views: [
      { without: new Uint32Array(0), relevant },
      { without: Uint32Array.from(without), relevant: kept },
    ],
    excluded,
    depth,
    top,
  };
  const tables = { users: table(users, features, most), items: table(items, features, most), features };
  return { tables, candidates, query };
}

async function rankOnGpu(
  tables: FactorTables,
  candidates: Uint32Array,
  query: RankQuery,
  task: TaskOptions,
  options: WebgpuTopNOptions = {},
) {
  const topN = await createWebgpuTopN(options);
  try {
    return await topN.rank(tables, candidates, query, task);
  } finally {
    await topN.close();
  }
}

describe.skipIf(!gpu.available)('rankings on the GPU', () => {
  test.each<[string, Size]>([
    ['several tiles and blocks', { users: 150, items: 400, features: 9, depth: 100, top: 10, most: 20 }],
    ['many ties', { users: 70, items: 300, features: 2, depth: 50, top: 20, most: 1 }],
    ['lists longer than what is left', { users: 12, items: 30, features: 4, depth: 1000, top: 25, most: 5 }],
    ['more features than a step', { users: 20, items: 90, features: 70, depth: 20, top: 3, most: 9 }],
    ['one of each', { users: 2, items: 1, features: 1, depth: 1, top: 1, most: 3 }],
  ])('%s', async (_name, size) => {
    const { tables, candidates, query } = problem(size);
    const expected = await rankByFactors(tables, candidates, query);
    const scoreBytes = 4 * candidates.length * 70;
    const actual = await rankOnGpu(tables, candidates, query, {}, { scoreBytes });
    for (const v of [0, 1]) {
      expect(Array.from(actual.ranks[v])).toEqual(Array.from(expected.ranks[v]));
      expect(Array.from(actual.shown[v])).toEqual(Array.from(expected.shown[v]));
    }
    if (size.users > 10) expect(actual.ranks[0].some((rank) => rank > 0)).toBe(true);
  });

  test('an aborted one ends with an AbortError, and progress ends with all users', async () => {
    const { tables, candidates, query } = problem({
      ...{ users: 30, items: 60, features: 5, depth: 10, top: 5, most: 4 },
    });
    const done: number[] = [];
    await rankOnGpu(tables, candidates, query, { onProgress: (progress) => done.push(progress.done) });
    expect(done.at(-1)).toBeGreaterThan(20);
    const signal = AbortSignal.abort();
    await expect(rankOnGpu(tables, candidates, query, { signal })).rejects.toThrow(AbortError);
  });
});

test.runIf(!gpu.available)(skipReason(gpu), () => {});

describe.skipIf(!gpu.available)('which backend ranks', () => {
  const { tables, candidates, query } = problem({
    ...{ users: 40, items: 80, features: 6, depth: 20, top: 5, most: 30 },
  });
  const kernels = async (engine: EngineName | undefined) => {
    const stages: number[] = [];
    const options = { engine, onProgress: ({ done }: { done: number }) => stages.push(done) };
    const answer = await rank({ kind: 'factors', ...tables }, candidates, query, options);
    return { answer, onGpu: stages.length > 0 };
  };

  test('the GPU on request, else the CPU for little work; the answers are the same', async () => {
    const [gpu, cpu, auto] = [await kernels('gpu'), await kernels('cpu'), await kernels(undefined)];
    // So small a ranking reports progress on the GPU alone.
    expect([gpu.onGpu, cpu.onGpu, auto.onGpu]).toEqual([true, false, false]);
    for (const { answer } of [cpu, auto]) expect(answer).toEqual(gpu.answer);
  });
});
