// Coordinate ascent over shards: the loop of fit/ on a sharded engine. Every rank runs it with the shards that it has, and
// comes to the same state.

import type { Communicator } from '../comm/communicator.js';
import { anyRank } from '../comm/communicator.js';
import type { TableValues } from '../engine/engine.js';
import { type EngineReason, onEngine } from '../engine/select.js';
import { createShardedEngine } from '../engine/sharded/engine.js';
import { joinedValues, partOf, valuesWithin } from '../engine/sharded/tables.js';
import { abortReason, InputError } from '../errors.js';
import { nowAndThen } from '../fit/ascent.js';
import type { DataFacts } from '../fit/facts.js';
import { firstHyper, learned, tiltsToMatch } from '../fit/hyper.js';
import {
  type AfterLeg,
  type Beginning,
  type Checkpoint,
  type LoopResult,
  type LoopState,
  RELAXATION,
  runLoop,
} from '../fit/loop.js';
import {
  type AscentOptions,
  CHECKPOINT_MINUTES,
  checkFit,
  type FitSettings,
  fitSettings,
} from '../fit/options.js';
import { resumedOptions } from '../fit/resume.js';
import { type StartingVertices, startOf, vertexStart } from '../fit/start.js';
import { MAX_EDGES, transposeRows } from '../graph/build.js';
import type { GraphSide } from '../graph/graph.js';
import { VertexIds } from '../graph/ids.js';
import { allocate } from '../math/memory.js';
import { option, optionError } from '../options/error.js';
import { AUTO } from '../options/fit.js';
import { VERSION } from '../version.js';
import { hashOfText, hashTables, probe, requireSame } from './agree.js';
import { shardsOfRank } from './gather.js';
import { type Parts, readShard } from './parts.js';
import { loadState, loadTable, type SavedFit, saveState } from './state.js';

/** Options of a fit over shards: those of coordinate ascent, and a folder for its state. */
export interface PartsFitOptions
  extends Omit<AscentOptions, 'resume' | 'onCheckpoint' | 'checkpointMinutes' | 'from'> {
  /** Where the state is kept now and then, and when the fit is stopped. */
  readonly keep?: { readonly folder: string; readonly minutes?: number | undefined } | undefined;
  /** The folder of a state to go on from. */
  readonly goOn?: string | undefined;
  /** Told on rank 0 that the state could not be kept: that is no reason to end the fit. */
  readonly onUnkept?: ((error: Error) => void) | undefined;
}

/** What a rank has when a fit is over. */
export interface PartsFit {
  readonly settings: FitSettings;
  readonly state: LoopState;
  readonly stopped: 'converged' | 'iterations';
  readonly bound: number | undefined;
  readonly items: TableValues;
  /** Of each shard that this rank has. */
  readonly users: readonly TableValues[];
  readonly totals: SavedFit['totals'];
  /** A hash of all tables, the same wherever the bits are. */
  readonly hash: string;
  readonly engine: string;
  readonly engineReason: EngineReason;
  readonly threads: number;
  readonly seconds: number;
}

/** Fits the model to shards. Called by every rank with the same options. */
export async function fitParts(
  parts: Parts,
  communicator: Communicator,
  given: PartsFitOptions = {},
): Promise<PartsFit> {
  const began = performance.now();
  const { keep, goOn, onUnkept, ...asked } = given;
  const saved = goOn === undefined ? undefined : await loadState(goOn, parts);
  const options = settled(parts, asked, saved);
  const settings = fitSettings(options);
  const mine = shardsOfRank(parts.shards.length, communicator.size, communicator.rank);
  const { threads, signal } = options;
  const own = await ownRows(parts, mine);
  const work = { edges: own.users.neighbors.length, features: settings.features };
  return onEngine(settings.engine, work, threads, async ({ engine: local, reason }) => {
    await requireSame(communicator, [
      { text: VERSION, otherwise: 'has another version of graphex than rank 0; install the same everywhere' },
      {
        text: JSON.stringify([parts.fingerprint, parts.shards, parts.itemsHash]),
        otherwise: 'has other parts than rank 0; give all the same folder',
      },
      {
        text: JSON.stringify([settings, saved?.state]),
        otherwise: 'was started with other options than rank 0; give all the same',
      },
      {
        text: await probe(local),
        otherwise:
          'computes otherwise than rank 0: another version of Node, another kind of processor, or a GPU on one of them; use the same everywhere, or --engine cpu',
      },
    ]);
    const engine = createShardedEngine(local, communicator, () => ({
      shards: parts.shards.length,
      first: mine.first,
      bounds: own.bounds,
    }));
    const facts = factsOf(parts);
    const hyper = saved?.state.hyper ?? (await firstHyper(facts, settings, signal));
    const start = (side: 'users' | 'items', vertices: StartingVertices) =>
      startOf(side, vertices, parts.total, hyper, settings.features, settings.seed);
    const state: LoopState = saved?.state ?? {
      iteration: 0,
      warmSweeps: settings.start === 'warm' ? undefined : 0,
      bounds: [],
      likelihood: undefined,
      relaxation: RELAXATION,
      hyper,
    };
    const activity = state.warmSweeps === undefined ? 'mean' : 'exact';
    const values = {
      users: saved ? await savedUsers(goOn!, parts, mine, saved) : start('users', vertexStart(own.users)),
      items:
        saved?.items ?? start('items', { ids: parts.itemIds, strength: (item) => parts.itemTotal[item] }),
    };
    const tables = {
      users: await engine.createTable(settings.features, values.users, activity, true),
      items: await engine.createTable(settings.features, values.items, activity),
    };
    if (saved) {
      for (const side of ['users', 'items'] as const) {
        const { mass, leftover, leftoverAt } = saved.totals[side];
        void engine.setMass(tables[side], mass);
        void engine.setLeftover(tables[side], leftover, leftoverAt);
      }
    }
    const beginning: Beginning = saved?.began ?? {
      settings: { ...settings },
      fingerprint: parts.fingerprint,
    };
    const usersNow = async () => {
      const all = await engine.read(tables.users);
      return own.bounds.slice(1).map((_, p) => valuesWithin(all, settings.features, partOf(own.bounds, p)));
    };
    const stateNow = async (now: LoopState): Promise<SavedFit> => ({
      began: beginning,
      state: now,
      items: await engine.read(tables.items),
      totals: { users: await engine.totals(tables.users), items: await engine.totals(tables.items) },
    });
    const keepNow = async (now: LoopState) => {
      const what = await stateNow(now);
      await saveState(keep!.folder, parts, communicator, what, await usersNow());
    };
    const moving = { learn: learned(settings, hyper), tilts: tiltsToMatch(facts, settings, hyper) };
    const result = await runLoop(
      engine,
      {
        edges: parts.edges,
        users: own.users,
        items: own.items,
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
    const users = await usersNow();
    const { items, totals } = await stateNow(result.state);
    return {
      ...{ settings, state: result.state, bound: result.bound, items, users, totals },
      stopped: result.stopped as Exclude<LoopResult['stopped'], 'aborted'>,
      hash: await hashOfAll(parts, communicator, mine.first, items, users),
      engine: engine.description,
      engineReason: reason,
      threads: engine.threads,
      seconds: (performance.now() - began) / 1000,
    };
  });
}

/** What shards cannot do is said before anything is read. */
function settled(
  parts: Parts,
  asked: Omit<PartsFitOptions, 'keep' | 'goOn' | 'onUnkept'>,
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
  return { ...options, features };
}

/** The rows of this rank's shards, one after the other, and the same edges by item. */
async function ownRows(parts: Parts, { first, last }: { first: number; last: number }) {
  const edges = parts.shards.slice(first, last).reduce((sum, shard) => sum + shard.edges, 0);
  if (edges >= MAX_EDGES) {
    throw new InputError(
      `${edges} edges are on one rank, which holds at most ${MAX_EDGES - 1}; start more ranks, several on a host if need be`,
    );
  }
  const shards: GraphSide[] = [];
  for (let s = first; s < last; s++) shards.push(await readShard(parts, s));
  const bounds = [0];
  for (const shard of shards) bounds.push(bounds[bounds.length - 1] + shard.count);
  const users = joinedSides(shards, bounds, parts.multigraph);
  return { bounds, users, items: transposeRows(users, parts.items) };
}

function joinedSides(
  shards: readonly GraphSide[],
  bounds: readonly number[],
  multigraph: boolean,
): GraphSide {
  const count = bounds[bounds.length - 1];
  const edges = shards.reduce((sum, { neighbors }) => sum + neighbors.length, 0);
  const offsets = allocate(Uint32Array, count + 1);
  const neighbors = allocate(Uint32Array, edges);
  const counts = multigraph ? allocate(Uint32Array, edges) : undefined;
  let at = 0;
  for (const [p, shard] of shards.entries()) {
    for (let v = 0; v <= shard.count; v++) offsets[bounds[p] + v] = at + shard.offsets[v];
    neighbors.set(shard.neighbors, at);
    if (counts) counts.set(shard.counts!, at);
    at += shard.neighbors.length;
  }
  return { count, ids: joinedIds(shards.map(({ ids }) => ids)), offsets, neighbors, counts };
}

function joinedIds(all: readonly VertexIds[]): VertexIds {
  if (all.every(({ kind }) => kind === 'integer')) {
    const values = new Float64Array(all.reduce((sum, ids) => sum + ids.length, 0));
    let at = 0;
    for (const ids of all) {
      values.set(ids.values as Float64Array, at);
      at += ids.length;
    }
    return VertexIds.integers(values);
  }
  return VertexIds.texts(all.flatMap((ids) => Array.from({ length: ids.length }, (_, v) => ids.at(v))));
}

async function savedUsers(
  folder: string,
  parts: Parts,
  { first, last }: { first: number; last: number },
  saved: SavedFit,
): Promise<TableValues> {
  const tables: TableValues[] = [];
  for (let s = first; s < last; s++) tables.push(await loadTable(folder, parts, s, saved));
  return joinedValues(tables);
}

function factsOf({ edges, total, multigraph, users, items, degrees }: Parts): DataFacts {
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
function keeper(
  communicator: Communicator,
  minutes: number = CHECKPOINT_MINUTES,
  keepNow: (state: LoopState) => Promise<void>,
  onUnkept: ((error: Error) => void) | undefined,
): AfterLeg {
  const due = nowAndThen(minutes);
  return async (state) => {
    if (!(await anyRank(communicator, communicator.rank === 0 && due()))) return;
    await keepNow(state).catch((error: Error) => onUnkept?.(error));
  };
}

/** Shard by shard, so that it is the same on any number of ranks. */
async function hashOfAll(
  parts: Parts,
  communicator: Communicator,
  first: number,
  items: TableValues,
  users: readonly TableValues[],
): Promise<string> {
  const DIGITS = 64;
  const all = new Float64Array(parts.shards.length * DIGITS);
  for (const [p, table] of users.entries()) {
    const digits = Array.from(hashTables([table]), (digit) => digit.charCodeAt(0));
    all.set(digits, (first + p) * DIGITS);
  }
  await communicator.sum(all);
  return hashOfText(hashTables([items]) + Buffer.from(Uint8Array.from(all)).toString('latin1'));
}
