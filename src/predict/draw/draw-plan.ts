// The plan of a posterior predictive draw of the test graph: plain shared arrays that any worker can read.
//
// A test graph has four kinds of vertices:
// - Held-out users with an edge to a trained fit item have a posterior, by fold-in.
// - All other held-out users are the unseen atoms of a process of size s·p/(1−p), tilted by the mass of those items.
// - Trained items that the split assigns to "test" have their posterior from training.
// - All other test items are the unseen atoms of a process of size q·α, tilted by the mass of the training users.
// Edges to fit items that training never saw are not used: they are in neither the fold-in nor the tilt.

import { InputError } from '../../errors.js';
import { eligibleMass } from '../../fit/fold-in/fold-in.js';
import { type Model, type ModelSide, needPosterior, type PosteriorModel } from '../../fit/model.js';
import type { CountPrior } from '../../fit/sides/count-prior.js';
import type { SideName } from '../../graph/graph.js';
import { allocate } from '../../math/memory.js';
import type { DrawsGiven } from '../../options/names.js';
import { atomsAbove } from '../../process/ggp.js';
import { chooseCut, reachOfMass, type SidePrior } from '../../process/unseen.js';
import type { Split } from '../../sample/split-types.js';
import { shown } from '../../text/untrusted.js';
import { type KnownVertices, roomFor } from './draw-vertex.js';

/** The unseen atoms of one side. */
export interface UnseenPlan {
  readonly prior: SidePrior;
  /** Mass per feature that these atoms could have met and did not. */
  readonly tilt: Float64Array;
  /** Atoms with a smaller weight are not drawn one by one. */
  readonly cut: number;
  /** Number of vertices that the size was learned from. Its relative error is about 1/√evidence. */
  readonly evidence: number;
}

/** Vertices of one side that could have met the same mass of the other side. */
export interface VertexGroup {
  readonly known: KnownVertices;
  readonly unseen: UnseenPlan | undefined;
}

/** The known vertices of all groups. */
export function knownCount(groups: readonly VertexGroup[]): number {
  return groups.reduce((sum, { known }) => sum + known.count, 0);
}

export interface DrawPlan {
  readonly features: number;
  readonly multigraph: boolean;
  /** The prior of counts, if they have their own. */
  readonly counts?: CountPrior | undefined;
  readonly users: readonly VertexGroup[];
  readonly items: readonly VertexGroup[];
}

/** Expected share of the vertices that the cut may miscount. It is far below the spread of any draw. */
const CUT_TOLERANCE = 5e-4;

/** For each item of the model, 1 if the split assigns it to "test". */
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

/** For each item of the model, 1 if the split assigns it to "fit". */
export function fitItems(model: Pick<Model, 'items'>, split: Split): Uint8Array {
  return testItems(model, split).map((isTest) => 1 - isTest);
}

/** The plan, and the ids of its known vertices in order. */
export function drawPlan(model: PosteriorModel, folded: ModelSide, split: Split, drawsGiven: DrawsGiven) {
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
    fitted: isTest.map((test) => 1 - test),
    shares: paper ? undefined : { users: p / (1 - p), items: split.testItems },
  });
  checkDrawSize(plan);
  return { plan, ids: { users: folded.ids.pick(users), items: model.items.ids.pick(items) } };
}

/** Which users meet which items. */
export interface Block {
  /** Rows of the folded users, and of the model's items. */
  readonly users: Uint32Array;
  readonly items: Uint32Array;
  /** For each item of the model, 1 if the users were folded in on it. */
  readonly fitted: Uint8Array;
  /** The sizes of the block's processes relative to those of training; undefined if no vertex is unseen. */
  readonly shares: Readonly<Record<SideName, number>> | undefined;
}

export function blockPlan(model: PosteriorModel, folded: ModelSide, block: Block): DrawPlan {
  const { users, items, fitted, shares } = block;
  const metByUsers = eligibleMass(model, 'items', { eligible: fitted, unseenShare: 0 });
  const metByItems = eligibleMass(model, 'users');
  const chosen = new Uint8Array(model.items.count);
  for (const j of items) chosen[j] = 1;
  const reach = shares && {
    users: eligibleMass(model, 'items', { eligible: chosen, unseenShare: shares.items }),
    // The block's users are expected to have this share of the training users' mass.
    items: metByItems.map((mass) => mass * shares.users),
  };
  return {
    features: model.features,
    multigraph: model.multigraph,
    counts: model.counts,
    users: [
      {
        known: knownVertices(folded, users, metByUsers),
        unseen: shares && unseen(model.users, shares.users, metByUsers, reach!.users),
      },
    ],
    items: [
      {
        known: knownVertices(model.items, items, metByItems),
        unseen: shares && unseen(model.items, shares.items, metByItems, reach!.items),
      },
    ],
  };
}

/** A drawn atom holds its weight, its features and their alias boxes. */
const BYTES_PER_ATOM_AND_FEATURE = 20;
const MOST_BYTES = 8 * 2 ** 30;

/** Throws before any work if a draw would exceed memory. No fit finds such a size, but an edited file can hold it. */
function checkDrawSize({ features, users, items }: DrawPlan): void {
  for (const [side, groups] of Object.entries({ users, items })) {
    for (const { unseen } of groups) {
      if (!unseen) continue;
      const atoms = atomsAbove(unseen.prior, unseen.cut);
      if (atoms * features * BYTES_PER_ATOM_AND_FEATURE <= MOST_BYTES) continue;
      throw new InputError(
        `the model's size of the ${side} is ${Number(unseen.prior.size.toPrecision(3))} after the split: a draw would have ` +
          `${atoms.toPrecision(3)} unseen ${side}, more than fit in memory; fit again, or leave out the predictive check with draws 0`,
      );
    }
  }
}

/**
 * The unseen atoms of a share of a side's process. `tilt` is the mass that they did not meet, `reach` the mass that they can meet
 * in the draw.
 */
export function unseen(
  side: ModelSide,
  share: number,
  tilt: Float64Array,
  reach: Float64Array,
): UnseenPlan | undefined {
  const prior: SidePrior = { ...side.hyper, size: side.hyper.size * share };
  if (prior.size === 0) return undefined;
  const cut = chooseCut(prior, reachOfMass(reach), CUT_TOLERANCE);
  return { prior, tilt, cut, evidence: side.count };
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
export function knownVertices(side: ModelSide, rows: Uint32Array, otherMass: Float64Array): KnownVertices {
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
    featureShape: pick(side.featureShape, otherMass.length),
    featureRate: pick(side.featureRate, otherMass.length),
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
