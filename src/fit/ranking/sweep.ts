// The cross-fitted sweep (docs/recommending.md). For each fold of the items in turn, it folds in all users without that fold's
// items: from the prior, in RANKING_STEPS half-steps. Then it updates the fold's items from those users. So an item never
// learns from users who were estimated from that item. Edge passes use posterior means. All folds share one user table,
// because it is re-initialised for each fold.

import { byField, type EdgeIndex, type Engine, type Table, type TableValues } from '../../engine/engine.js';
import { FitError, located } from '../../errors.js';
import type { BySide, WeighedSide } from '../../graph/graph.js';
import type { BothHyper } from '../ascent/bound.js';
import { startOf, vertexStart } from '../ascent/start.js';
import { addMass, RANKING_STEPS } from '../fold-in/fold-in.js';
import { type Folds, reorderRows, usersWithout } from './folds.js';

/** The state of a stopped cross-fit, from which it continues to the same numbers; or items to start with. */
export interface CrossFitState {
  readonly sweeps: number;
  /** In the order of the graph. */
  readonly items: TableValues;
  /** By default computed from `items`. */
  readonly foldMass?: Float64Array | undefined;
}

/** The data of a cross-fit: a graph, or the shards of it that one rank holds. */
export interface CrossFitData extends BySide<WeighedSide> {
  /** Number of edges of all data. */
  readonly edges: number;
  readonly total: number;
  /** If users lie in shards, some on other ranks: the number of all users, and the sum of counts of each item over all. */
  readonly everywhere?: { readonly users: number; readonly itemTotal: Float64Array } | undefined;
}

export async function startCrossFit(
  engine: Engine,
  graph: CrossFitData,
  folds: Folds,
  hyper: BothHyper,
  features: number,
  seed: number,
  from?: CrossFitState,
) {
  const { everywhere } = graph;
  const inShards = everywhere !== undefined;
  const splitBy = (side: 'own' | 'other') => (inShards ? { side, rows: graph.users.count } : undefined);
  const itemSide = reorderRows(graph.items, folds);
  const itemIndex = await engine.createIndex(itemSide, splitBy('other'));
  const vertices = everywhere
    ? { ids: itemSide.ids, strength: (place: number) => everywhere.itemTotal[folds.order[place]] }
    : vertexStart(itemSide);
  const start = from
    ? pickTable(from.items, folds.order, features)
    : startOf('items', vertices, graph.total, hyper, features, seed);
  const items = await engine.createTable(features, start, 'mean');
  const mass = Array.from({ length: folds.bounds.length - 1 }, (_, f) =>
    from?.foldMass
      ? from.foldMass.slice(f * features, (f + 1) * features)
      : addMass(new Float64Array(features), start, folds.bounds[f], folds.bounds[f + 1]),
  );
  const userIndexes: EdgeIndex[] = [];
  for (let f = 0; f < mass.length; f++) {
    userIndexes.push(await engine.createIndex(usersWithout(graph.users, folds, f), splitBy('own')));
  }
  const users = await engine.foldFresh.createTable(graph.users.count, features, inShards);
  const userCount = everywhere?.users ?? graph.users.count;
  /** Mean starting weight of a user: that of a user of average degree, with all features at mean 1. */
  const startWeight = (otherMass: Float64Array): number => {
    const exposure = hyper.users.tau + otherMass.reduce((a, b) => a + b, 0);
    return graph.edges / userCount / exposure;
  };
  const handles = [users, items, itemIndex, ...userIndexes];
  let sweeps = from?.sweeps ?? 0;

  /** The users folded in without a fold's items. The next call overwrites the table. */
  async function foldUsers(fold: number): Promise<Table> {
    const otherMass = sumWithout(mass, fold);
    const start = { weight: startWeight(otherMass), feature: 1 };
    const how = { hyper: hyper.users, otherMass, start, steps: RANKING_STEPS };
    try {
      await engine.foldFresh.fold(users, userIndexes[fold], items, how);
      return users;
    } catch (error) {
      throw located(error, `sweep ${sweeps + 1}, users without fold ${fold + 1}`);
    }
  }

  async function updateFold(fold: number): Promise<number> {
    await foldUsers(fold);
    try {
      const [edgeTerm, userTotals, itemTotals] = await Promise.all([
        engine.update(items, itemIndex, users, {
          hyper: hyper.items,
          activity: 'mean',
          rows: { first: folds.bounds[fold], last: folds.bounds[fold + 1] },
          edgeTerm: true,
        }),
        engine.totals(users),
        engine.totals(items),
      ]);
      let expected = 0;
      for (let k = 0; k < features; k++) expected += userTotals.mass[k] * mass[fold][k];
      mass[fold] = itemTotals.mass;
      return edgeTerm! - expected;
    } catch (error) {
      throw located(error, `sweep ${sweeps + 1}, items of fold ${fold + 1}`);
    }
  }

  return {
    usersWithout: foldUsers,
    /**
     * One sweep over all F folds: F × RANKING_STEPS passes over the edges outside a fold, and one over all edges. Resolves to
     * the log-likelihood of the edges at the items' means before their update, given users folded in without these items.
     */
    async sweep(): Promise<number> {
      let likelihood = 0;
      for (let f = 0; f < mass.length; f++) likelihood += await updateFold(f);
      sweeps++;
      if (!Number.isFinite(likelihood)) {
        throw new FitError(`sweep ${sweeps}: the likelihood became ${likelihood}`);
      }
      return likelihood;
    },
    /** The item table in the order of the graph. */
    readItems: async () => pickTable(await engine.read(items), folds.place, features),
    /** Mass of each fold's items, folds × features. The next sweep depends on it and on the item table only. */
    foldMass(): Float64Array {
      const all = new Float64Array(mass.length * features);
      for (const [f, part] of mass.entries()) all.set(part, f * features);
      return all;
    },
    free(): void {
      for (const handle of handles.splice(0)) void engine.free(handle);
    },
  };
}

function sumWithout(masses: readonly Float64Array[], without: number): Float64Array {
  const sum = new Float64Array(masses[0].length);
  for (let f = 0; f < masses.length; f++) {
    if (f !== without) for (let k = 0; k < sum.length; k++) sum[k] += masses[f][k];
  }
  return sum;
}

/** A table of the given rows, of the same number type. */
function pickTable(table: TableValues, rows: Uint32Array, features: number): TableValues {
  return byField(features, (field, width) => {
    const from = table[field];
    const to = from instanceof Float32Array ? new Float32Array(from.length) : new Float64Array(from.length);
    for (const [at, row] of rows.entries()) to.set(from.subarray(row * width, (row + 1) * width), at * width);
    return to;
  });
}
