// What a stopped fit needs to resume, as tensors under checkpoint.* in the file of its model.

import { z } from 'zod';
import type { TableTotals, TableValues } from '../engine/engine.js';
import type {
  AscentCheckpoint,
  Checkpoint,
  LoopState,
  RankingCheckpoint,
  RankingState,
} from '../fit/ascent/loop.js';
import { phaseOf } from '../fit/ascent/schedule.js';
import type { Model, PosteriorModel, Ranker } from '../fit/model.js';
import { LEAST_SQUARES } from '../fit/ranking/blend/blend.js';
import { numbersUnderWay, statesUnderWay } from '../fit/unfinished.js';
import { SIDES, type SideName } from '../graph/graph.js';
import { boundsSchema, getTable, putTable } from './posterior-tensors.js';
import { blendSchema, searchSchema } from './ranker-tensors.js';
import { FINITE, NOT_NEGATIVE, type Put, putInto, type TensorReader } from './tensor-reader.js';
import type { Tensor } from './tensors.js';
import { hyperSchema } from './vertex-tensors.js';

const count = z.number().int().min(0);
const activity = z.enum(['geometric', 'mean']);

const phaseSchema = z.strictObject({
  ...{ users: activity, items: activity },
  features: z.number().int().min(1).max(65_536),
  sweeps: count.min(1).optional(),
  until: z
    .strictObject({
      change: z.number().min(0).optional(),
      tolerances: z.number().min(0).optional(),
      least: count.optional(),
    })
    .refine(({ change, tolerances }) => (change === undefined) !== (tolerances === undefined))
    .optional(),
  matchesTau: z.boolean().optional(),
});

/** Where a fit stands, as JSON. Strict: a field that this version does not know would change what the fit does next. */
const stateSchema = z.strictObject({
  iteration: count,
  schedule: z.array(phaseSchema).min(1).max(1000),
  phase: count,
  swept: count,
  last: z.tuple([count, z.number()]).optional(),
  relaxation: z.number().min(0).max(1),
  bounds: boundsSchema,
  hyper: hyperSchema,
});

/** The states of the members of a ranker that are being fitted, by the number of the member. */
const fitsSchema = z.object({
  seed: z.number().int().min(0),
  fromModel: z.boolean().optional(),
  fits: z
    .array(stateSchema.extend({ member: z.number().int().min(0) }))
    .min(1)
    .max(1000),
  blend: blendSchema.optional(),
  recency: searchSchema.optional(),
});

export function putCheckpoint(tensors: Map<string, Tensor>, checkpoint: Checkpoint): string {
  if (checkpoint.method === 'ranking') return putRankingStates(tensors, checkpoint);
  const { state, tables, totals } = checkpoint;
  const features = featuresOf(tables.items);
  for (const name of SIDES) {
    const put = putInto(tensors, `checkpoint.${name}.`);
    const table = tables[name];
    // A float32 table with as many features as the model equals the model's, and is not stored twice.
    const differs = features !== endFeatures(state) || table.weightShape instanceof Float64Array;
    if (differs) putTable(put, table, table.weightShape.length, features);
    putTotals(put, totals[name]);
  }
  return JSON.stringify(state);
}

function putRankingStates(tensors: Map<string, Tensor>, checkpoint: RankingCheckpoint): string {
  const members = numbersUnderWay(checkpoint);
  const fits = statesUnderWay(checkpoint).map(({ state, items, foldMass }, n) => {
    const features = featuresOf(items);
    const prefix = fitPrefix(n);
    putTable(putInto(tensors, `${prefix}items.`), items, items.weightShape.length, features);
    putInto(tensors, prefix)('fold_mass', foldMass, [foldMass.length / features, features]);
    return { ...state, member: members[n] };
  });
  const { seed, fromModel, blend, recency, items } = checkpoint;
  const rows = items.weightShape.length;
  if (blend?.start) putInto(tensors, 'checkpoint.')('blend', blend.start, [rows, blend.start.length / rows]);
  return JSON.stringify({ seed, fits, fromModel, blend: blend?.found, recency });
}

const fitPrefix = (n: number): string => `checkpoint.${n}.`;

function featuresOf(table: TableValues): number {
  return table.featureShape.length / Math.max(1, table.weightShape.length);
}

export function putTotals(put: Put, { mass, unseenMass, unseenMassAt }: TableTotals): void {
  put('mass', mass);
  put('unseen_mass', unseenMass);
  put('unseen_mass_at', unseenMassAt);
}

export function getTotals(read: TensorReader, prefix: string, features: number): TableTotals {
  const get = (name: string) => read.numbers(`${prefix}${name}`, Float64Array, features, NOT_NEGATIVE);
  return { mass: get('mass'), unseenMass: get('unseen_mass'), unseenMassAt: get('unseen_mass_at') };
}

/** The checkpoint in the file of a model; undefined if there is none. */
export function getCheckpoint(
  read: TensorReader,
  model: Model,
  text: string | undefined,
): Checkpoint | undefined {
  if (text === undefined) return undefined;
  const { options, fingerprint } = model.provenance;
  const origin = { options, fingerprint };
  const saved: unknown = JSON.parse(text);
  return model.type === 'posterior'
    ? { ...getAscentState(read, model, saved), origin }
    : { ...getRankingStates(read, model, saved), origin };
}

function getAscentState(
  read: TensorReader,
  model: PosteriorModel,
  saved: unknown,
): Omit<AscentCheckpoint, 'origin'> {
  const state = parseLoopState(saved);
  if (endFeatures(state) !== model.features) {
    throw new Error(
      `the checkpoint ends with ${endFeatures(state)} features, the model has ${model.features}`,
    );
  }
  const { features } = phaseOf(state);
  const table = (name: SideName): TableValues => {
    const prefix = `checkpoint.${name}.`;
    if (features === model.features && !read.has(`${prefix}weight_shape`)) return model[name];
    return savedTable(read, prefix, model[name].count, features);
  };
  return {
    method: 'ascent',
    state,
    tables: { users: table('users'), items: table('items') },
    totals: {
      users: getTotals(read, 'checkpoint.users.', features),
      items: getTotals(read, 'checkpoint.items.', features),
    },
  };
}

/** Throws if version 0.2 kept the state: its schedule was not in the file, and this version cannot continue it. */
function refuseOldSchedule(saved: unknown): void {
  const state = saved as { readonly iteration?: unknown; readonly schedule?: unknown } | null;
  if (typeof state === 'object' && state?.iteration !== undefined && state.schedule === undefined) {
    throw new Error('an earlier version kept this state, and its schedule cannot be continued');
  }
}

/** The saved state of a fit; an error names the field as `checkpoint.FIELD`. */
export function parseLoopState(saved: unknown): LoopState {
  refuseOldSchedule(saved);
  return loopState(z.object({ checkpoint: stateSchema }).parse({ checkpoint: saved }).checkpoint);
}

/** The state with all fields that the loop expects, whether or not the file has them. */
function loopState({ last, ...rest }: z.infer<typeof stateSchema>): LoopState {
  const { schedule, phase } = rest;
  if (phase >= schedule.length) throw new Error(`the checkpoint is in phase ${phase} of ${schedule.length}`);
  return { ...rest, last };
}

/** The number of features that the fit ends with. */
function endFeatures({ schedule }: LoopState): number {
  return schedule[schedule.length - 1].features;
}

/** A table of either precision. */
export function savedTable(read: TensorReader, prefix: string, rows: number, features: number): TableValues {
  const double = read.tensors.get(`${prefix}weight_shape`)?.data instanceof Float64Array;
  const type = double ? Float64Array : Float32Array;
  return getTable<Float32Array | Float64Array>(read, prefix, type, rows, features);
}

function getRankingStates(
  read: TensorReader,
  model: Ranker,
  saved: unknown,
): Omit<RankingCheckpoint, 'origin'> {
  if (model.scores.kind !== 'factors') throw new Error('the model of the checkpoint has no factors');
  const { members } = model.scores;
  refuseOldSchedule((saved as { readonly fits?: readonly unknown[] } | null)?.fits?.[0]);
  const { seed, fits, fromModel, blend, recency } = fitsSchema.parse(saved);
  const underWay = fits.map(({ member, ...state }, n): RankingState => {
    const prefix = fitPrefix(n);
    if (member >= members.length) {
      throw new Error(`the checkpoint is that of member ${member} of ${members.length}`);
    }
    const { features } = members[member];
    const foldMass = read.numbers(`${prefix}fold_mass`, Float64Array, undefined, NOT_NEGATIVE);
    if (foldMass.length === 0 || foldMass.length % features !== 0) {
      throw new Error(`tensor ${prefix}fold_mass has ${foldMass.length} values`);
    }
    const items = savedTable(read, `${prefix}items.`, model.items.count, features);
    return { state: loopState(state), items, foldMass };
  });
  const going = new Set(fits.map(({ member }) => member));
  const done = members.filter((_, member) => !going.has(member));
  const [one, ...others] = underWay;
  const startLength = LEAST_SQUARES.features * model.items.count;
  const start =
    read.has('checkpoint.blend') && read.numbers('checkpoint.blend', Float32Array, startLength, FINITE);
  const found = {
    method: 'ranking',
    seed,
    ...one,
    done,
    ...(others.length > 0 && { others }),
    ...(fromModel && { fromModel }),
    ...(blend && { blend: { found: blend, ...(start && { start }) } }),
    ...(recency && { recency }),
  } as const;
  const numbers = numbersUnderWay(found);
  if (fits.some(({ member }, n) => member !== numbers[n])) {
    throw new Error('the members of the checkpoint do not follow the finished ones');
  }
  return found;
}
