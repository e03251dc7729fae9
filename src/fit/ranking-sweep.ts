// The cross-fitted sweep of section 8b: one item table, and one user table per fold of the items. User table f never
// sees an edge of fold f, and the items of fold f are updated from user table f alone, so that what an item learns of its
// users was said by other items. Posterior means throughout.

import type { EdgeIndex, Engine, Table, TableValues } from '../engine/engine.js';
import { FitError } from '../errors.js';
import { sharedUint32 } from '../graph/build.js';
import type { BipartiteGraph, GraphSide } from '../graph/graph.js';
import type { BothHyper } from './bound.js';
import { type Folds, reorderRows, rowsWithout } from './folds.js';
import { startValues } from './start.js';

/** The state of a cross-fit on an engine; its owner frees it. */
export interface CrossFit {
  readonly folds: Folds;
  /** Rows in the order of the folds. */
  readonly items: Table;
  /** Per fold, the users without that fold's items. */
  readonly users: readonly Table[];
  /**
   * One sweep: every user table, then every fold of items, about F + 1 edge passes in all. Resolves to the
   * log-likelihood, at the means before the item updates, of the items' edges given users who were fitted without them.
   */
  sweep(): Promise<number>;
  /** The item table in the order of the graph. */
  readItems(): Promise<TableValues>;
  free(): void;
}

export async function startCrossFit(
  engine: Engine,
  graph: BipartiteGraph,
  folds: Folds,
  hyper: BothHyper,
  features: number,
  seed: number,
): Promise<CrossFit> {
  const count = folds.bounds.length - 1;
  const itemSide = reorderRows(graph.items, folds);
  const itemIndex = await engine.createIndex(itemSide);
  const start = startValues({ ...graph, items: itemSide }, hyper, features, seed);
  const items = await engine.createTable(features, start.items, 'mean');
  const users: Table[] = [];
  const userIndexes: EdgeIndex[] = [];
  for (let f = 0; f < count; f++) {
    const rows = rowsWithout(graph, 'users', folds, f);
    userIndexes.push(await engine.createIndex(rows));
    users.push(await engine.createTable(features, userStart(graph, rows, hyper, features, seed), 'mean'));
  }
  let foldMass = massByFold(features, start.items, folds);
  let sweeps = 0;

  async function sweep(): Promise<number> {
    sweeps++;
    const steps: Promise<unknown>[] = [];
    const located = (step: Promise<void>, what: string) =>
      step.catch((error) => {
        throw error instanceof FitError ? new FitError(`sweep ${sweeps}, ${what}, ${error.message}`) : error;
      });
    for (let f = 0; f < count; f++) {
      const step = engine.update(users[f]!, userIndexes[f]!, items, {
        hyper: hyper.users,
        activity: 'mean',
        otherMass: sumWithout(foldMass, f),
      });
      steps.push(located(step, `users without fold ${f + 1}`));
    }
    const userTotals = users.map((table) => engine.totals(table));
    const terms: Promise<number>[] = [];
    const itemTotals: ReturnType<Engine['totals']>[] = [];
    for (let f = 0; f < count; f++) {
      const step = engine.update(items, itemIndex, users[f]!, {
        hyper: hyper.items,
        activity: 'mean',
        rows: { first: folds.bounds[f]!, last: folds.bounds[f + 1]! },
        edgeTerm: true,
      });
      steps.push(located(step, `items of fold ${f + 1}`));
      terms.push(engine.lastEdgeTerm());
      itemTotals.push(engine.totals(items));
    }
    const [userMass, edgeTerms, itemMass] = await Promise.all([
      Promise.all(userTotals),
      Promise.all(terms),
      Promise.all(itemTotals),
      ...steps,
    ]);
    let likelihood = 0;
    for (let f = 0; f < count; f++) {
      likelihood += edgeTerms[f]!;
      for (let k = 0; k < features; k++) likelihood -= userMass[f]!.mass[k]! * foldMass[f]![k]!;
    }
    foldMass = itemMass.map(({ mass }) => mass);
    if (!Number.isFinite(likelihood)) {
      throw new FitError(`sweep ${sweeps}: the likelihood became ${likelihood}`);
    }
    return likelihood;
  }

  return {
    folds,
    items,
    users,
    sweep,
    readItems: async () => inGraphOrder(await engine.read(items), folds, features),
    free() {
      for (const handle of [items, itemIndex, ...users, ...userIndexes]) engine.free(handle);
    },
  };
}

/** Where the users of one fold begin: from the degrees that this fold's state may know, with noise common to all folds. */
function userStart(
  graph: BipartiteGraph,
  rows: Pick<GraphSide, 'offsets' | 'neighbors' | 'counts'>,
  hyper: BothHyper,
  features: number,
  seed: number,
): TableValues {
  const none: GraphSide = {
    ...graph.items,
    count: 0,
    offsets: sharedUint32(1),
    neighbors: sharedUint32(0),
    counts: undefined,
  };
  return startValues({ ...graph, users: { ...graph.users, ...rows }, items: none }, hyper, features, seed)
    .users;
}

function massByFold(features: number, items: TableValues, { bounds }: Folds): Float64Array[] {
  const result: Float64Array[] = [];
  for (let f = 0; f + 1 < bounds.length; f++) {
    const mass = new Float64Array(features);
    for (let j = bounds[f]!; j < bounds[f + 1]!; j++) {
      const weight = items.weightShape[j]! / items.weightRate[j]!;
      for (let k = 0; k < features; k++) {
        mass[k]! += (weight * items.featureShape[j * features + k]!) / items.featureRate[j * features + k]!;
      }
    }
    result.push(mass);
  }
  return result;
}

function sumWithout(masses: readonly Float64Array[], without: number): Float64Array {
  const sum = new Float64Array(masses[0]!.length);
  for (let f = 0; f < masses.length; f++) {
    if (f !== without) for (let k = 0; k < sum.length; k++) sum[k]! += masses[f]![k]!;
  }
  return sum;
}

function inGraphOrder(values: TableValues, { order }: Folds, features: number): TableValues {
  const scatter = (from: TableValues[keyof TableValues], width: number) => {
    const to = new Float32Array(from.length);
    for (let place = 0; place < order.length; place++) {
      to.set(from.subarray(place * width, (place + 1) * width), order[place]! * width);
    }
    return to;
  };
  return {
    weightShape: scatter(values.weightShape, 1),
    weightRate: scatter(values.weightRate, 1),
    featureShape: scatter(values.featureShape, features),
    featureRate: scatter(values.featureRate, features),
  };
}
