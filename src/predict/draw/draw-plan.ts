// What a posterior predictive draw of the test graph needs, as plain shared arrays that any worker can read.
//
// A test graph has four kinds of vertices. Held-out users with an edge to a trained fit item have a posterior of their
// own, by fold-in; all other held-out users are the unseen atoms of a process of size s·p/(1−p), tilted by the mass of
// those items. Trained items whose coin says "test" have their posterior from training; all other test items are the
// unseen atoms of a process of size q·α, tilted by the mass of the training users. Edges to fit items that training
// never saw are no evidence here: they are in neither the fold-in nor the tilt.

import { InputError } from '../../errors.js';
import { eligibleMass } from '../../fit/fold-in/fold-in.js';
import { type Model, type ModelSide, needPosterior, type PosteriorModel } from '../../fit/model.js';
import type { CountPrior } from '../../fit/sides/count-prior.js';
import type { SideName } from '../../graph/graph.js';
import type { VertexIds } from '../../graph/ids.js';
import { allocate } from '../../math/memory.js';
import type { DrawsGiven } from '../../options/names.js';
import { atomsAbove } from '../../process/ggp.js';
import { chooseCut, type SidePrior } from '../../process/unseen.js';
import type { Split } from '../../sample/split-types.js';
import { shown } from '../../text/untrusted.js';
import { type KnownVertices, roomFor } from './draw-vertex.js';

export type { DrawsGiven };

/** Unseen atoms of one side. */
export interface UnseenPlan {
  readonly law: SidePrior;
  /** Mass per feature that these atoms were not seen to meet. */
  readonly tilt: Float64Array;
  /** Weight below which atoms are not drawn one by one. */
  readonly cut: number;
  /** Vertices that the size was learned from: it is known to about one part in the root of this. */
  readonly evidence: number;
}

/** Vertices of a side that had the same to meet. */
export interface VertexGroup {
  readonly known: KnownVertices;
  readonly unseen: UnseenPlan | undefined;
}

export interface DrawPlan {
  readonly features: number;
  readonly multigraph: boolean;
  /** The law of counts, where they have one of their own. */
  readonly counts?: CountPrior | undefined;
  readonly users: readonly VertexGroup[];
  readonly items: readonly VertexGroup[];
}

/** The plan, and the ids of its known vertices in order. */
export interface NamedPlan {
  readonly plan: DrawPlan;
  readonly ids: { readonly users: VertexIds; readonly items: VertexIds };
}

/** Expected share of the vertices that the cut may miscount: far below the spread of any draw. */
const CUT_TOLERANCE = 5e-4;

/** Items of the model by their coin: 1 where the coin says "test". */
export function testItems(model: Pick<Model, 'items'>, split: Split): Uint8Array {
  const { ids, drawn } = split.assignment.items;
  return Uint8Array.from({ length: model.items.count }, (_, j) => {
    const at = ids.find(model.items.ids.at(j));
    if (at < 0) {
      throw new InputError(
        `item ${shown(model.items.ids.at(j))} of the model is not in the split: evaluate a model with the split it was fitted to`,
      );
    }
    return drawn[at];
  });
}

/** Items of the model by their coin: 1 where the coin says "fit". */
export function fitItems(model: Pick<Model, 'items'>, split: Split): Uint8Array {
  return testItems(model, split).map((coin) => 1 - coin);
}

export function drawPlan(
  model: PosteriorModel,
  folded: ModelSide,
  split: Split,
  drawsGiven: DrawsGiven,
): NamedPlan {
  checkInput(model, folded, split);
  const paper = drawsGiven === 'paper';
  const isTest = testItems(model, split);
  const users = rowsWhere(
    folded,
    (i) => folded.degree[i] > 0 && (!paper || split.test.users.ids.find(folded.ids.at(i)) >= 0),
  );
  const items = rowsWhere(
    model.items,
    (j) => isTest[j] === 1 && (!paper || split.test.items.ids.find(model.items.ids.at(j)) >= 0),
  );
  const p = split.testUsers;
  const plan = blockPlan(model, folded, {
    users,
    items,
    fitted: isTest.map((coin) => 1 - coin),
    shares: paper ? undefined : { users: p / (1 - p), items: split.testItems },
  });
  expectDraw(plan);
  return { plan, ids: { users: folded.ids.pick(users), items: model.items.ids.pick(items) } };
}

/** Which users meet which items. */
export interface Block {
  /** Rows of the folded users, and of the model's items. */
  readonly users: Uint32Array;
  readonly items: Uint32Array;
  /** Items that the users were folded in on: 1 per item of the model. */
  readonly fitted: Uint8Array;
  /** The block's sizes over those of the training processes; undefined: none of its vertices are unseen. */
  readonly shares: Readonly<Record<SideName, number>> | undefined;
}

export function blockPlan(model: PosteriorModel, folded: ModelSide, block: Block): DrawPlan {
  const { users, items, fitted, shares } = block;
  const K = model.features;
  const metByUsers = eligibleMass(model, 'items', { eligible: fitted, unseenShare: 0 });
  const metByItems = eligibleMass(model, 'users');
  const chosen = new Uint8Array(model.items.count);
  for (const j of items) chosen[j] = 1;
  const reach = shares && {
    users: eligibleMass(model, 'items', { eligible: chosen, unseenShare: shares.items }),
    // In expectation the block's users have that share of the training users' mass.
    items: metByItems.map((mass) => mass * shares.users),
  };
  return {
    features: K,
    multigraph: model.multigraph,
    counts: model.counts,
    users: [
      {
        known: knownVertices(folded, users, K, metByUsers),
        unseen: shares && unseen(model.users, shares.users, metByUsers, reach!.users),
      },
    ],
    items: [
      {
        known: knownVertices(model.items, items, K, metByItems),
        unseen: shares && unseen(model.items, shares.items, metByItems, reach!.items),
      },
    ],
  };
}

/** A drawn atom holds its weight, its features and their alias boxes. */
const BYTES_PER_ATOM_AND_FEATURE = 20;
const MOST_BYTES = 8 * 2 ** 30;

/** Throws before any work where a draw would be larger than memory: a size that no fit finds, in a file made by hand. */
function expectDraw({ features, users, items }: DrawPlan): void {
  for (const [side, groups] of Object.entries({ users, items })) {
    for (const { unseen } of groups) {
      if (!unseen) continue;
      const atoms = atomsAbove(unseen.law, unseen.cut);
      if (atoms * features * BYTES_PER_ATOM_AND_FEATURE <= MOST_BYTES) continue;
      throw new InputError(
        `the model's size of the ${side} is ${Number(unseen.law.size.toPrecision(3))} after the split: a draw would have ` +
          `${atoms.toPrecision(3)} unseen ${side}, more than memory holds; fit again, or leave out the predictive check with draws 0`,
      );
    }
  }
}

/** What held-out users could have met by their fold-in edges: the trained fit items. */
export function metByHeldOut(model: PosteriorModel, isTest: Uint8Array): Float64Array {
  return eligibleMass(model, 'items', { eligible: isTest.map((coin) => 1 - coin), unseenShare: 0 });
}

/** The unseen atoms of a share of a side's process, tilted by what they did not meet; `reach`: the mass they are to meet. */
export function unseen(
  side: ModelSide,
  share: number,
  tilt: Float64Array,
  reach: Float64Array,
): UnseenPlan | undefined {
  const law: SidePrior = { ...side.hyper, size: side.hyper.size * share };
  if (law.size === 0) return undefined;
  const cut = chooseCut(law, { reach, features: reach.length, tolerance: CUT_TOLERANCE });
  return { law, tilt, cut, evidence: side.count };
}

function checkInput(model: PosteriorModel, folded: ModelSide, split: Split): void {
  needPosterior(model, 'predictive draws');
  if (split.method !== 'pq') {
    throw new InputError(
      'predictive draws need a split by users and items: holding out edges leaves no test graph that the model ' +
        'describes; split by pq',
    );
  }
  if (folded.featureShape.length !== folded.count * model.features) {
    throw new InputError(
      `the folded-in users have ${folded.featureShape.length / Math.max(1, folded.count)} features, the model ` +
        `${model.features}: fold them into this model`,
    );
  }
  for (let i = 0; i < folded.count; i++) {
    const at = split.assignment.users.ids.find(folded.ids.at(i));
    if (at < 0 || !split.assignment.users.drawn[at]) {
      throw new InputError(
        `user ${shown(folded.ids.at(i))} is not held out by the split: fold in its fold-in part`,
      );
    }
  }
}

export function rowsWhere(side: ModelSide, wanted: (row: number) => boolean): Uint32Array {
  const rows: number[] = [];
  for (let row = 0; row < side.count; row++) if (wanted(row)) rows.push(row);
  return Uint32Array.from(rows);
}

/** The given rows over shared buffers, so that workers read them without a copy. */
export function knownVertices(
  side: ModelSide,
  rows: Uint32Array,
  features: number,
  otherMass: Float64Array,
): KnownVertices {
  const pick = (values: Float32Array, width: number) => {
    const result = allocate(Float32Array, rows.length * width);
    for (let r = 0; r < rows.length; r++) {
      result.set(values.subarray(rows[r] * width, (rows[r] + 1) * width), r * width);
    }
    return result;
  };
  return {
    count: rows.length,
    weightShape: pick(side.weightShape, 1),
    weightRate: pick(side.weightRate, 1),
    featureShape: pick(side.featureShape, features),
    featureRate: pick(side.featureRate, features),
    tau: side.hyper.tau,
    rate: side.hyper.rate,
    otherMass,
    prepared: roomFor(rows.length),
    counts: side.counts && {
      mean: pick(side.counts.mean, 1),
      variance: pick(side.counts.variance, 1),
    },
  };
}
