import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { degrees, type GraphSide } from '../../src/graph/graph.js';
import { readGraph } from '../../src/ingest/read.js';

const folder = fileURLToPath(new URL('../../../shared/data/', import.meta.url));

function tailIndex(side: GraphSide): number {
  let sum = 0;
  for (const degree of degrees(side)) sum += 1 - 2 ** -degree;
  return Math.log2(side.count / sum);
}

/** The counts and σ̂ that the README of the data gives. */
const SETS = [
  ['goodbooks/to_read.csv.gz', 48_871, 9_986, 912_705, 0.078, 0.008],
  ['movietweetings/ratings.dat.gz', 21_081, 12_611, 141_695, 0.447, 0.472],
  ['online-retail/customer_product_qty.tsv.gz', 4_339, 3_665, 266_802, 0.025, 0.06],
  ['julia-general/package_depends.tsv.gz', 13_455, 6_258, 108_958, 0.136, 0.433],
] as const;

describe.skipIf(!existsSync(folder))(
  'the data sets of ../shared/data (skipped where that folder is absent)',
  () => {
    it.each(SETS)('%s', async (file, users, items, edges, sigmaUsers, sigmaItems) => {
      const { graph, read } = await readGraph(folder + file);
      expect([graph.users.count, graph.items.count, graph.edges]).toEqual([users, items, edges]);
      expect(read.kept + read.merged).toBe(read.rows);
      expect(tailIndex(graph.users)).toBeCloseTo(sigmaUsers, 3);
      expect(tailIndex(graph.items)).toBeCloseTo(sigmaItems, 3);
    });

    it('online-retail as a multigraph keeps its quantities', async () => {
      const file = `${folder}online-retail/customer_product_qty.tsv.gz`;
      const { graph } = await readGraph(file, { count: 3, multigraph: true });
      expect(graph.users.counts!.reduce((a, b) => Math.max(a, b))).toBe(80_995);
      expect(graph.users.ids.at(0)).toBe('12346.0');
    });
  },
);
