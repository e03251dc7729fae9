// Coordinate ascent over shards: the loop of fit/ascent on a sharded engine. Every rank runs it with its own shards and
// reaches the same state.

import { anyRank, type Communicator } from '../comm/communicator.js';
import { singlePrecision, TABLE_FIELDS, type TableValues } from '../engine/engine.js';
import { ranOn } from '../engine/select.js';
import { joinedValues } from '../engine/sharded/tables.js';
import { checkFeatures, createTables, posteriorOf } from '../fit/ascent/ascent.js';
import { totalsOf } from '../fit/ascent/bound.js';
import { firstHyper, learnedHyper, matchesTau, tausToMatch } from '../fit/ascent/hyper.js';
import { type FitOrigin, type LoopResult, type LoopState, runLoop } from '../fit/ascent/loop.js';
import { itemProfiles, sampleUsers } from '../fit/ascent/profiles.js';
import { firstState, fitSchedule, phaseOf, startKind } from '../fit/ascent/schedule.js';
import { differencesOf, type StartingVertices, startOf, vertexStart } from '../fit/ascent/start.js';
import { NOBODY } from '../fit/fold-in/user-tables.js';
import type { PosteriorModel } from '../fit/model.js';
import { type AscentOptions, type FitSettings, fitSettings, recordedOptions } from '../fit/options.js';
import type { GraphSide, SideName } from '../graph/graph.js';
import type { RowLists } from '../math/csr.js';
import { AUTO } from '../options/commands/fit.js';
import { option, optionError } from '../options/error.js';
import { loadAscentState, loadShardUsers, type SavedAscent, saveAscentState } from './fit-state.js';
import {
  checkedOptions,
  checkpointer,
  edgesOfRank,
  type FittedShards,
  hashOfAllRanks,
  itemVertices,
  needsOnePiece,
  onAgreedEngine,
  type PartitionFitTask,
  partitionFacts,
} from './fitted-shards.js';
import { gatherLists, type ShardRange, shardsOfRank } from './gather-shards.js';
import { parseMemory, planMemory } from './memory-plan.js';
import { type PartitionedData, readShard } from './partition-folder.js';
import { type LoadedShards, loadAllShards, readRankRows, streamShards } from './rank-shards.js';

export interface ShardedFitOptions
  extends PartitionFitTask,
    Omit<AscentOptions, 'resume' | 'onCheckpoint' | 'checkpointMinutes' | 'from'> {
  /**
   * The memory that a single rank may use, as in 4G; the path next to which the scratch file lies; and whether the model is
   * saved by shard. Default: all shards are in memory.
   */
  readonly within?:
    | { readonly memory: string; readonly path: string; readonly byShard?: boolean | undefined }
    | undefined;
}

/** What a rank has at the end of coordinate ascent. */
export interface ShardedFit extends FittedShards {
  readonly state: LoopState;
  readonly bound: number | undefined;
}

/** Where a fit stands. */
type Present = Pick<LoopResult, 'state' | 'tables'>;

/** Fits the model by coordinate ascent. Every rank calls it with the same options. */
export async function fitAscentShards(
  partition: PartitionedData,
  communicator: Communicator,
  given: ShardedFitOptions = {},
): Promise<ShardedFit> {
  const started = performance.now();
  const { checkpoint, resumeFolder, within, onCheckpointError, ...asked } = given;
  const saved = resumeFolder === undefined ? undefined : await loadAscentState(resumeFolder, partition);
  const options = ascentOptions(partition, asked, saved);
  const settings = fitSettings(options);
  const range = shardsOfRank(partition.shards.length, communicator);
  const { threads, signal } = options;
  const facts = partitionFacts(partition);
  const kind = startKind(settings, facts.degreeCounts);
  const schedule = saved?.state.schedule ?? fitSchedule(settings, facts.degreeCounts, kind);
  if (saved) checkFeatures(saved.state, settings.features);
  const plan =
    within &&
    planMemory(partition, schedule[0].features, threads, parseMemory(within.memory), within.byShard);
  if (plan && communicator.size > 1) {
    throw optionError`${option('memory')} is for one process that streams shards from disk, and ${communicator.size} were started; leave it out, and start enough processes to hold all shards`;
  }
  const rows = plan ? undefined : await readRankRows(partition, range);
  const work = { edges: edgesOfRank(partition, communicator), threads };
  return onAgreedEngine(partition, communicator, settings, saved, work, async (local, engineReason) => {
    const hyper = saved?.state.hyper ?? (await firstHyper(facts, settings, signal));
    const state = saved?.state ?? firstState(schedule, hyper);
    const phase = phaseOf(state);
    const { features } = phase;
    const differences = differencesOf(
      saved || kind === 'noise'
        ? undefined
        : await shardProfiles(partition, communicator, features, rows?.users, threads),
    );
    const { total } = partition;
    const { seed } = settings;
    const start = (side: SideName, vertices: StartingVertices) =>
      startOf(side, vertices, total, hyper, features, seed, differences[side]);
    const items =
      saved?.items ??
      start('items', { ids: partition.itemIds, strength: (item) => partition.itemTotal[item] });
    let loaded: LoadedShards;
    if (rows) {
      const values = saved
        ? await savedUsers(resumeFolder!, partition, range, saved)
        : start('users', vertexStart(rows.users));
      loaded = loadAllShards(partition, communicator, local, range.first, rows, values);
    } else {
      const startShard = async (shard: number, users: GraphSide) =>
        saved ? loadShardUsers(resumeFolder!, partition, shard, saved) : start('users', vertexStart(users));
      const scratch = { plan: plan!, path: within!.path };
      loaded = await streamShards(partition, communicator, local, scratch, phase, startShard, options);
    }
    try {
      const { engine } = loaded;
      const tables = await createTables(engine, { users: loaded.values, items }, phase, saved?.totals, true);
      const origin: FitOrigin = {
        options: recordedOptions('ascent', options),
        fingerprint: partition.fingerprint,
      };
      const stateNow = async ({ state: now, tables: present }: Present): Promise<SavedAscent> => ({
        ...{ origin, state: now, items: await engine.read(present.items) },
        totals: await totalsOf(engine, present),
      });
      const saving = checkpointer(communicator, given, async (folder, now: Present) =>
        saveAscentState(folder, partition, communicator, await stateNow(now), (s) =>
          engine.readPart(now.tables.users, s),
        ),
      );
      const { afterSweep } = saving;
      const result = await runLoop(
        engine,
        {
          edges: partition.edges,
          ...loaded.edges,
          factorials: partition.shards.reduce((sum, { logFactorials }) => sum + logFactorials, 0),
          isStopped: (wanted) => anyRank(communicator, wanted),
        },
        tables,
        state,
        settings,
        { learn: learnedHyper(settings, hyper), matchedTaus: tausToMatch(facts, settings, hyper) },
        options,
        afterSweep && ((now, present) => afterSweep({ state: now, tables: present })),
      );
      if (result.stopped === 'aborted') return await saving.stop(result, signal);
      const users = await loaded.last(result.tables.users);
      const ran = ranOn(engine, engineReason, started);
      const itemsModel = posteriorWithoutUsers(partition, settings, await stateNow(result), result);
      const tablesOf = async (s: number) => {
        const table = singlePrecision(await users[s]());
        return TABLE_FIELDS.map((field) => table[field]);
      };
      return {
        ...ran,
        ...{ state: result.state, bound: result.bound, itemsModel, tablesOf },
        streamedShards: plan ? partition.shards.length - plan.residentShards : 0,
        stopped: result.stopped as Exclude<LoopResult['stopped'], 'aborted'>,
        stateHash: await hashOfAllRanks(partition, communicator, { itemsModel, tablesOf }, rows),
        close: loaded.close,
      };
    } catch (error) {
      await loaded.close();
      throw error;
    }
  });
}

/** Refuses what shards cannot serve, before anything is read. */
function ascentOptions(
  partition: PartitionedData,
  asked: object,
  saved: SavedAscent | undefined,
): AscentOptions & { readonly features?: number | undefined } {
  const { features, ...options } = checkedOptions(partition, 'ascent', asked, saved);
  if (partition.multigraph && options.counts === 'hurdle') {
    throw needsOnePiece('counts', 'hurdle', 'the prior of the counts is fitted to all of them');
  }
  if ((options.restarts ?? 1) > 1) {
    throw needsOnePiece('restarts', `${options.restarts}`, 'a fit to shards starts once');
  }
  if (features === AUTO) {
    throw optionError`${option('features')} ${AUTO} needs the data in one piece; choose a number, for instance by a fit to a sample`;
  }
  return { ...options, features };
}

/** Profiles of the items, from users of all ranks. `users` are those of this rank, unless its shards are streamed. */
async function shardProfiles(
  partition: PartitionedData,
  communicator: Communicator,
  features: number,
  users: GraphSide | undefined,
  threads: number | undefined,
): Promise<Float32Array> {
  const draw = async (share: number) => {
    const samples: RowLists[] = users ? [sampleUsers(users, share)] : [];
    for (let s = 0; !users && s < partition.shards.length; s++) {
      samples.push(sampleUsers(await readShard(partition, s), share));
    }
    return gatherLists(samples, communicator);
  };
  return itemProfiles(draw, partition, features, { threads });
}

async function savedUsers(
  folder: string,
  partition: PartitionedData,
  { first, last }: ShardRange,
  saved: SavedAscent,
): Promise<TableValues> {
  const tables: TableValues[] = [];
  for (let s = first; s < last; s++) tables.push(await loadShardUsers(folder, partition, s, saved));
  return joinedValues(tables);
}

function posteriorWithoutUsers(
  partition: PartitionedData,
  settings: FitSettings,
  saved: SavedAscent,
  { bound, stopped }: Pick<LoopResult, 'bound' | 'stopped'>,
): PosteriorModel {
  const { state, items, totals } = saved;
  const side = (name: SideName, table: TableValues) => ({
    ...singlePrecision(table),
    unseenMass: totals[name].unseenMass,
    hyper: state.hyper[name],
    ...(matchesTau(settings, state.hyper, name) && { tauMatched: true as const }),
  });
  const sides = {
    users: Object.freeze({ ...NOBODY, ...side('users', joinedValues([])), mass: totals.users.mass }),
    items: Object.freeze({ ...itemVertices(partition), ...side('items', items) }),
  };
  return posteriorOf(partition, settings, sides, { ...saved, bound, stopped });
}
