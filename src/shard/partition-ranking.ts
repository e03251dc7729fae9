// The cross-fitted objective over shards: the sweeps of fit/ on a sharded engine. Items are whole on every rank; users are
// made anew from the items, so that only these are kept, and in the end the users of each shard are folded in by themselves.

import type { Communicator } from '../comm/communicator.js';
import { anyRank } from '../comm/communicator.js';
import type { Engine, TableValues } from '../engine/engine.js';
import { onEngine } from '../engine/select.js';
import { createShardedEngine } from '../engine/sharded/engine.js';
import { edgesWithin, partOf } from '../engine/sharded/tables.js';
import { abortReason } from '../errors.js';
import type { Checkpoint, FitOrigin } from '../fit/ascent/loop.js';
import { RANKING_STEPS } from '../fit/fold-in/fold-in.js';
import { foldMeans } from '../fit/fold-in/member-fold.js';
import { columnSums, meanTable, type Ranker, type RankerMember } from '../fit/model.js';
import { checkFit, type FitOptions, type RankingFitOptions, recordedOptions } from '../fit/options.js';
import { cutFolds } from '../fit/ranking/folds.js';
import { firstSweepState, runSweeps, sweepProgress } from '../fit/ranking/member.js';
import { type RankingSettings, rankingSettings } from '../fit/ranking/settings.js';
import { type CrossFitData, startCrossFit } from '../fit/ranking/sweep.js';
import { resumedOptions } from '../fit/resume.js';
import { VertexIds } from '../graph/ids.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { option, optionError } from '../options/error.js';
import { VERSION } from '../version.js';
import { type FittedShards, itemVertices, singles, stateOfAll } from './gather-model.js';
import { shardsOfRank } from './gather-shards.js';
import { factsOfShards, keeper, type ShardedTask } from './partition-ascent.js';
import type { PartitionedData } from './partition-folder.js';
import { requireAgreement } from './rank-agreement.js';
import { type OwnRows, ownRows } from './rank-shards.js';
import { type DoneMember, loadRankingState, type SavedRanking, saveRankingState } from './ranking-state.js';

/** Options of a fit for ranking over shards. */
export interface ShardedRankingOptions
  extends ShardedTask,
    Omit<RankingFitOptions, 'method' | 'resume' | 'onCheckpoint' | 'checkpointMinutes' | 'from'> {}

/** Fits for ranking to shards. Called by every rank with the same options. */
export async function fitRankingShards(
  parts: PartitionedData,
  communicator: Communicator,
  given: ShardedRankingOptions = {},
): Promise<FittedShards> {
  const began = performance.now();
  const { keep, goOn, onUnkept, ...asked } = given;
  const saved = goOn === undefined ? undefined : await loadRankingState(goOn, parts);
  const options = settled(parts, asked, saved);
  // What stands beside the members needs all users' items in one place.
  const settings = { ...rankingSettings(factsOfShards(parts), options), blend: false };
  const { signal, threads } = options;
  const own = await ownRows(parts, shardsOfRank(parts.shards.length, communicator.size, communicator.rank));
  const work = {
    edges: own.users.neighbors.length * settings.folds,
    features: settings.features,
  };
  return onEngine(settings.engine, work, threads, async ({ engine: local, reason }) => {
    await requireAgreement(communicator, local, parts, [settings, saved?.state]);
    const engine = createShardedEngine(local, communicator, () => ({
      shards: parts.shards.length,
      first: shardsOfRank(parts.shards.length, communicator.size, communicator.rank).first,
      bounds: own.bounds,
    }));
    const { features, blend } = settings;
    const origin: FitOrigin = {
      options: { ...recordedOptions('ranking', options), features, blend },
      fingerprint: parts.fingerprint,
    };
    const done: DoneMember[] = [...(saved?.done ?? [])];
    while (done.length < settings.average) {
      const run = done.length;
      const from = run === saved?.done.length ? saved : undefined;
      const keepNow = async (now: () => Promise<OneState>) => {
        if (communicator.rank !== 0) return;
        await saveRankingState(keep!.folder, { origin, done, ...(await now()) });
      };
      const fitted = await oneFit(engine, parts, own, settings, run, from, {
        onProgress: options.onProgress,
        isStopped: () => anyRank(communicator, signal?.aborted ?? false),
        keep: keep && keeper(communicator, keep.minutes, keepNow, onUnkept),
      });
      if (fitted.stopped === 'aborted') {
        if (keep) await keepNow(async () => fitted);
        throw abortReason(signal?.aborted ? signal : AbortSignal.abort());
      }
      done.push({
        items: fitted.items,
        iterations: fitted.state.iteration,
        converged: fitted.stopped === 'converged',
      });
    }
    const members: RankerMember[] = [];
    const means: Float32Array[][] = [];
    for (const [run, member] of done.entries()) {
      const users = await foldUsers(local, parts, own, settings, member.items);
      means.push(users);
      members.push(await memberOf(parts, communicator, settings, run, member, users));
    }
    const seconds = (performance.now() - began) / 1000;
    const converged = done.every((member) => member.converged);
    const head = rankerHead(parts, settings.seed, origin, members, converged);
    const tablesOf = async (p: number) => means.map((ofMember) => ofMember[p]);
    return {
      ...{ head, tablesOf, seconds },
      inTurn: 0,
      stopped: converged ? 'converged' : 'iterations',
      hash: await stateOfAll(parts, communicator, { head, tablesOf }, own),
      engine: engine.description,
      engineReason: reason,
      threads: engine.threads,
      close: async () => {},
    };
  });
}

function settled(
  parts: PartitionedData,
  asked: Omit<ShardedRankingOptions, keyof ShardedTask>,
  saved: SavedRanking | undefined,
): Omit<RankingFitOptions, 'method'> {
  const options = { ...asked, objective: undefined, method: 'ranking' } as FitOptions;
  const resume = saved && ({ method: 'ranking', ...saved } as unknown as Checkpoint);
  const checked = checkFit(
    resume ? resumedOptions(() => parts.fingerprint, { ...options, resume } as never) : options,
  );
  if (checked.method !== 'ranking') throw new Error('another method than that of this fit');
  const { resume: _, from, ...rest } = checked.options;
  if (from !== undefined) {
    throw optionError`${option('from')} needs the data in one piece; leave it out, or give the data themselves in place of parts`;
  }
  return rest;
}

/** Where a cross-fit stands. */
type OneState = Pick<SavedRanking, 'state' | 'items' | 'foldMass'>;

interface Hooks {
  readonly onProgress: RankingFitOptions['onProgress'];
  isStopped(): Promise<boolean>;
  /** Called by all ranks after a sweep. */
  readonly keep: ((now: () => Promise<OneState>) => Promise<void>) | undefined;
}

async function oneFit(
  engine: Engine,
  parts: PartitionedData,
  own: OwnRows,
  settings: RankingSettings,
  run: number,
  from: SavedRanking | undefined,
  { onProgress, isStopped, keep }: Hooks,
) {
  const { features, hyper } = settings;
  const seed = settings.seed + run;
  const folds = cutFolds(parts.items, settings.folds, randomStream(seed, STREAMS.folds));
  const data: CrossFitData = {
    users: own.users,
    items: { count: parts.items, ids: parts.itemIds, ...own.items },
    edges: parts.edges,
    total: parts.total,
    everywhere: { users: parts.users, itemTotal: parts.itemTotal },
  };
  const begin = from && { sweeps: from.state.iteration, items: from.items, foldMass: from.foldMass };
  const cross = await startCrossFit(engine, data, folds, hyper, features, seed, begin);
  let state = from?.state ?? firstSweepState(settings);
  const now = async (): Promise<OneState> => ({
    state,
    items: await cross.readItems(),
    foldMass: cross.foldMass(),
  });
  try {
    const stopped = await runSweeps(cross, state, settings, {
      isStopped,
      onState: (latest, change) => {
        state = latest;
        onProgress?.(sweepProgress(settings, run, latest, change));
      },
      afterSweep: async () => keep?.(now),
    });
    return { stopped, ...(await now()) };
  } finally {
    cross.free();
  }
}

/** The users of each shard from all of their items, as a fit in one piece makes them. */
async function foldUsers(
  local: Engine,
  parts: PartitionedData,
  { users, bounds }: OwnRows,
  { features, hyper }: RankingSettings,
  items: TableValues,
): Promise<Float32Array[]> {
  const [weightShape, weightRate, featureShape, featureRate] = singles(items);
  const unseenMass = new Float64Array(features);
  const fixed = { count: parts.items, weightShape, weightRate, featureShape, featureRate, unseenMass };
  const base = { features, multigraph: parts.multigraph, prior: hyper.users, fixed };
  const result: Float32Array[] = [];
  for (let p = 0; p + 1 < bounds.length; p++) {
    const count = bounds[p + 1] - bounds[p];
    const rows = { count, ...edgesWithin(users, partOf(bounds, p)) };
    result.push(count === 0 ? new Float32Array(0) : await foldMeans(local, base, rows, RANKING_STEPS));
  }
  return result;
}

function meansOf(table: TableValues, features: number): Float32Array {
  const [weightShape, weightRate, featureShape, featureRate] = singles(table);
  const count = weightShape.length;
  return meanTable({ count, weightShape, weightRate, featureShape, featureRate }, features);
}

async function memberOf(
  parts: PartitionedData,
  communicator: Communicator,
  { features, hyper, seed }: RankingSettings,
  run: number,
  { items, iterations, converged }: DoneMember,
  users: readonly Float32Array[],
): Promise<RankerMember> {
  const { first } = shardsOfRank(parts.shards.length, communicator.size, communicator.rank);
  // One giver for each place, then the order of the shards: the same bits on any number of ranks.
  const sums = new Float64Array(parts.shards.length * features);
  for (const [p, means] of users.entries()) sums.set(columnSums(means, features), (first + p) * features);
  await communicator.sum(sums);
  const userMass = new Float64Array(features);
  for (let at = 0; at < sums.length; at++) userMass[at % features] += sums[at];
  return Object.freeze({
    features,
    items: meansOf(items, features),
    users: undefined,
    userMass,
    fold: Object.freeze({ kind: 'poisson', steps: RANKING_STEPS, hyper }),
    seed: seed + run,
    iterations,
    converged,
  });
}

function rankerHead(
  parts: PartitionedData,
  seed: number,
  origin: FitOrigin,
  members: readonly RankerMember[],
  converged: boolean,
): Ranker {
  return Object.freeze({
    type: 'ranker',
    method: 'ranking',
    multigraph: parts.multigraph,
    ...(parts.names && { names: parts.names }),
    users: Object.freeze({ count: 0, ids: VertexIds.texts([]), degree: new Uint32Array(0) }),
    items: Object.freeze(itemVertices(parts)),
    scores: Object.freeze({ kind: 'factors', members: Object.freeze([...members]) }),
    provenance: Object.freeze({
      version: VERSION,
      seed,
      ...origin,
      iterations: members[0].iterations,
      converged,
    }),
  });
}
