// A small computation that tells machines apart which do not compute alike.

import { createHash } from 'node:crypto';
import { type Engine, TABLE_FIELDS, type TableTotals, type TableValues } from '../engine/engine.js';

/** A hash of the numbers of tables, the same wherever the bits are. */
function hashTables(tables: Iterable<TableValues>): string {
  const hash = createHash('sha256');
  for (const table of tables) {
    for (const field of TABLE_FIELDS) {
      const { buffer, byteOffset, byteLength } = table[field];
      hash.update(new Uint8Array(buffer, byteOffset, byteLength));
    }
  }
  return hash.digest('hex');
}

/** What a small computation gives on this machine, kernels and quadrature and all: it tells processors and versions apart. */
export async function probe(engine: Engine): Promise<string> {
  const features = 6;
  const values = (length: number, from: number) =>
    Float64Array.from({ length }, (_, i) => 0.3 + (((i + from) * 7919) % 101) / 47);
  const table = (rows: number) => ({
    weightShape: values(rows, 1),
    weightRate: values(rows, 2),
    featureShape: values(rows * features, 3),
    featureRate: values(rows * features, 4),
  });
  const own = await engine.createTable(features, table(4), 'geometric');
  const other = await engine.createTable(features, table(5), 'geometric');
  const index = await engine.createIndex({
    offsets: Uint32Array.of(0, 2, 3, 6, 8),
    neighbors: Uint32Array.of(0, 3, 1, 0, 2, 4, 1, 4),
    counts: undefined,
  });
  const hyper = { sigma: 0.3, tau: 1.1, shape: 0.2, rate: 0.3, size: 7 };
  await engine.update(own, index, other, { hyper, activity: 'geometric', relaxation: 0.5 });
  const { mass, unseenMass: leftover }: TableTotals = await engine.totals(own);
  const read = await engine.read(own);
  for (const handle of [own, other, index]) void engine.free(handle);
  return `${hashTables([read])} ${mass.join(' ')} ${leftover.join(' ')}`;
}
