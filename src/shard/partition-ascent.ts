// Coordinate ascent over shards: the loop of fit/ on a sharded engine. Every rank runs it with the shards that it has, and
// comes to the same state.

import type { Communicator } from '../comm/communicator.js';
import { anyRank } from '../comm/communicator.js';
import type { TableValues } from '../engine/engine.js';
import { onEngine } from '../engine/select.js';
import { joinedValues } from '../engine/sharded/tables.js';
import { abortReason } from '../errors.js';
import { everyMinutes } from '../fit/ascent/ascent.js';
import type { DataFacts } from '../fit/ascent/data-facts.js';
import { firstHyper, learnedHyper, tausToMatch } from '../fit/ascent/hyper.js';
import {
  type Checkpoint,
  type FitOrigin,
  type LoopResult,
  type LoopState,
  RELAXATION,
  runLoop,
} from '../fit/ascent/loop.js';
import { noisyShare, type StartingVertices, startOf, vertexStart } from '../fit/ascent/start.js';
import {
  type AscentOptions,
  CHECKPOINT_MINUTES,
  checkFit,
  fitSettings,
  recordedOptions,
} from '../fit/options.js';
import { resumedOptions } from '../fit/resume.js';
import { AUTO } from '../options/commands/fit.js';
import { option, optionError } from '../options/error.js';
import { loadState, loadTable, type SavedFit, saveState } from './fit-state.js';
import { type FittedShards, posteriorHead, singles, stateOfAll } from './gather-model.js';
import { shardsOfRank } from './gather-shards.js';
import { roomWithin } from './memory-plan.js';
import { parseMemory } from './memory-size.js';
import type { PartitionedData } from './partition-folder.js';
import { requireAgreement } from './rank-agreement.js';
import { holdAll, holdInTurn, ownRows } from './rank-shards.js';

/** What every fit over shards can be told: where its state is. */
export interface ShardedTask {
  /** Where the state is kept now and then, and when the fit is stopped. */
  readonly keep?: { readonly folder: string; readonly minutes?: number | undefined } | undefined;
  /** The folder of a state to go on from. */
  readonly goOn?: string | undefined;
  /** Told on rank 0 that the state could not be kept: that is no reason to end the fit. */
  readonly onUnkept?: ((error: Error) => void) | undefined;
}

/** Options of a fit over shards by coordinate ascent. */
export interface ShardedFitOptions
  extends ShardedTask,
    Omit<AscentOptions, 'resume' | 'onCheckpoint' | 'checkpointMinutes' | 'from'> {
  /**
   * Memory that a rank which is alone may take, as in 4G, the path beside which what does not fit waits on disk, and whether
   * the model is going to be written by shard.
   * Default: all shards are in memory.
   */
  readonly within?:
    | { readonly memory: string; readonly path: string; readonly byShard?: boolean | undefined }
    | undefined;
}

/** What a rank has when a fit by ascent is over. */
export interface ShardedFit extends FittedShards {
  readonly state: LoopState;
  readonly bound: number | undefined;
}

/** Fits the model to shards. Called by every rank with the same options. */
export async function fitShards(
  parts: PartitionedData,
  communicator: Communicator,
  given: ShardedFitOptions = {},
): Promise<ShardedFit> {
  const began = performance.now();
  const { keep, goOn, within, onUnkept, ...asked } = given;
  const saved = goOn === undefined ? undefined : await loadState(goOn, parts);
  const options = settled(parts, asked, saved);
  const settings = fitSettings(options);
  const mine = shardsOfRank(parts.shards.length, communicator.size, communicator.rank);
  const { threads, signal } = options;
  const room =
    within && roomWithin(parts, settings.features, threads, parseMemory(within.memory), within.byShard);
  if (room && communicator.size > 1) {
    throw optionError`${option('memory')} is for one process that reads shards in turn, and ${String(communicator.size)} were started; leave it out, and start as many as hold all shards`;
  }
  const own = room ? undefined : await ownRows(parts, mine);
  const shards = parts.shards.slice(mine.first, mine.last);
  const work = { edges: shards.reduce((sum, { edges }) => sum + edges, 0), features: settings.features };
  return onEngine(settings.engine, work, threads, async ({ engine: local, reason }) => {
    await requireAgreement(communicator, local, parts, [settings, saved?.state]);
    const facts = factsOfShards(parts);
    const hyper = saved?.state.hyper ?? (await firstHyper(facts, settings, signal));
    const start = (side: 'users' | 'items', vertices: StartingVertices) =>
      startOf(
        ...([side, vertices, parts.total, hyper, settings.features, settings.seed] as const),
        noisyShare(parts[side], settings),
      );
    const state: LoopState = saved?.state ?? {
      iteration: 0,
      warmSweeps: settings.start === 'warm' ? undefined : 0,
      bounds: [],
      likelihood: undefined,
      relaxation: RELAXATION,
      hyper,
    };
    const activity = state.warmSweeps === undefined ? 'mean' : 'geometric';
    const items =
      saved?.items ?? start('items', { ids: parts.itemIds, strength: (item) => parts.itemTotal[item] });
    const held = own
      ? holdAll(
          ...([parts, communicator, local, mine.first, own] as const),
          saved ? await savedUsers(goOn!, parts, mine, saved) : start('users', vertexStart(own.users)),
        )
      : await holdInTurn(
          ...([parts, communicator, local, { room: room!, path: within!.path }] as const),
          ...([settings.features, activity] as const),
          async (shard, users) =>
            saved ? loadTable(goOn!, parts, shard, saved) : start('users', vertexStart(users)),
          options,
        );
    try {
      const { engine } = held;
      const tables = {
        users: await engine.createTable(settings.features, held.values, activity, true),
        items: await engine.createTable(settings.features, items, activity),
      };
      if (saved) {
        for (const side of ['users', 'items'] as const) {
          const { mass, unseenMass, unseenMassAt } = saved.totals[side];
          void engine.setMass(tables[side], mass);
          void engine.setUnseenMass(tables[side], unseenMass, unseenMassAt);
        }
      }
      const origin: FitOrigin = {
        options: recordedOptions('ascent', options),
        fingerprint: parts.fingerprint,
      };
      const stateNow = async (now: LoopState): Promise<SavedFit> => ({
        origin,
        state: now,
        items: await engine.read(tables.items),
        totals: { users: await engine.totals(tables.users), items: await engine.totals(tables.items) },
      });
      const keepNow = async (now: LoopState) => {
        const what = await stateNow(now);
        await saveState(keep!.folder, parts, communicator, what, (p) => engine.readPart(tables.users, p));
      };
      const moving = {
        learn: learnedHyper(settings, hyper),
        matchedTaus: tausToMatch(facts, settings, hyper),
      };
      const result = await runLoop(
        engine,
        {
          edges: parts.edges,
          ...held.edges,
          factorials: parts.shards.reduce((sum, { logFactorials }) => sum + logFactorials, 0),
          isStopped: (wanted) => anyRank(communicator, wanted),
        },
        tables,
        state,
        settings,
        moving,
        options,
        keep && keeper(communicator, keep.minutes, keepNow, onUnkept),
      );
      if (result.stopped === 'aborted') {
        if (keep) await keepNow(result.state);
        throw abortReason(signal?.aborted ? signal : AbortSignal.abort());
      }
      const users = await held.last(tables.users);
      const { items: lastItems, totals } = await stateNow(result.state);
      const seconds = (performance.now() - began) / 1000;
      const head = posteriorHead(parts, {
        ...{ settings, origin, state: result.state, bound: result.bound, items: lastItems, totals },
        converged: result.stopped === 'converged',
      });
      const tablesOf = async (p: number) => singles(await users[p]());
      return {
        ...{ state: result.state, bound: result.bound, head, tablesOf, seconds },
        inTurn: room ? parts.shards.length - room.held : 0,
        stopped: result.stopped as Exclude<LoopResult['stopped'], 'aborted'>,
        hash: await stateOfAll(parts, communicator, { head, tablesOf }, own),
        engine: engine.description,
        engineReason: reason,
        threads: engine.threads,
        close: held.close,
      };
    } catch (error) {
      await held.close();
      throw error;
    }
  });
}

/** What shards cannot do is said before anything is read. */
function settled(
  parts: PartitionedData,
  asked: Omit<ShardedFitOptions, 'keep' | 'goOn' | 'within' | 'onUnkept'>,
  saved: SavedFit | undefined,
): AscentOptions & { readonly features?: number | undefined } {
  const resume = saved && ({ method: 'ascent', ...saved } as unknown as Checkpoint);
  const checked = checkFit(
    resume
      ? resumedOptions(() => parts.fingerprint, { ...asked, resume } as AscentOptions & {
          resume: Checkpoint;
        })
      : asked,
  );
  if (checked.method !== 'ascent') {
    // Ranking has a fit of its own (ranking.ts).
    throw optionError`${option('method')} ${checked.method} needs the data in one piece; give the data themselves in place of parts, or leave ${option('method')} out`;
  }
  const { resume: _, features, from, ...options } = checked.options;
  if (from !== undefined) {
    throw optionError`${option('from')} needs the data in one piece; leave it out, or give the data themselves in place of parts`;
  }
  if (parts.multigraph && options.counts === 'hurdle') {
    throw optionError`${option('counts')} hurdle needs the data in one piece, since counts of their own law are fitted to all; give the data themselves in place of parts, or leave ${option('counts')} out`;
  }
  if (features === AUTO) {
    throw optionError`${option('features')} ${AUTO} needs the data in one piece; choose a number, for instance by a fit to a sample`;
  }
  if ((options.restarts ?? 1) > 1) {
    throw optionError`${option('restarts')} ${String(options.restarts)}: a fit to parts begins once; run it again with another ${option('seed')}`;
  }
  if ((options.levels ?? 1) > 1) {
    throw optionError`${option('levels')} ${String(options.levels)} needs the data in one piece, since starts are tried on a sample of all users; leave it out, or give the data themselves in place of parts`;
  }
  return { ...options, features };
}

async function savedUsers(
  folder: string,
  parts: PartitionedData,
  { first, last }: { first: number; last: number },
  saved: SavedFit,
): Promise<TableValues> {
  const tables: TableValues[] = [];
  for (let s = first; s < last; s++) tables.push(await loadTable(folder, parts, s, saved));
  return joinedValues(tables);
}

/** What a fit must know of the data, from what is known of all shards. */
export function factsOfShards({
  edges,
  total,
  multigraph,
  users,
  items,
  degrees,
}: PartitionedData): DataFacts {
  return {
    edges,
    total,
    multigraph,
    users: { count: users },
    items: { count: items },
    degreeCounts: degrees,
  };
}

/** Keeps the state when rank 0 says that it is time. */
export function keeper<S>(
  communicator: Communicator,
  minutes: number = CHECKPOINT_MINUTES,
  keepNow: (state: S) => Promise<void>,
  onUnkept: ((error: Error) => void) | undefined,
): (state: S) => Promise<void> {
  const due = everyMinutes(minutes);
  return async (state) => {
    if (!(await anyRank(communicator, communicator.rank === 0 && due()))) return;
    await keepNow(state).catch((error: Error) => onUnkept?.(error));
  };
}
