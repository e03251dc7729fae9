// What a stopped fit needs to go on, as tensors under checkpoint.*, beside its model.

import { z } from 'zod';
import type { TableTotals, TableValues } from '../engine/engine.js';
import type {
  AscentCheckpoint,
  Checkpoint,
  LoopState,
  RankingCheckpoint,
  RankingState,
} from '../fit/ascent/loop.js';
import type { Model, ModelSide } from '../fit/model.js';
import { LEAST_SQUARES, type PreviousBlend } from '../fit/ranking/blend/blend.js';
import { numbersUnderWay, statesUnderWay } from '../fit/unfinished.js';
import { SIDES, type SideName } from '../graph/graph.js';
import { boundsSchema, getTable, putTable } from './posterior-tensors.js';
import { blendSchema } from './ranker-tensors.js';
import { FINITE, NOT_NEGATIVE, putInto, type TensorReader } from './tensor-reader.js';
import type { Tensor } from './tensors.js';
import { hyperSchema } from './vertex-tensors.js';

/** Where a fit stands, as JSON. */
export const stateSchema = z.object({
  iteration: z.number().int().min(0),
  warmSweeps: z.number().int().min(0).optional(),
  fromModel: z.boolean().optional(),
  onSample: z.boolean().optional(),
  fromSample: z.boolean().optional(),
  bounds: boundsSchema,
  likelihood: z.number().optional(),
  relaxation: z.number().min(0).max(1),
  hyper: hyperSchema,
  /** Of a fit for ranking alone, before there could be several under way. */
  seed: z.number().int().min(0).optional(),
});

/** Where fits for ranking stand; each is that member of the model. */
const fitsSchema = z.object({
  seed: z.number().int().min(0),
  fits: z
    .array(stateSchema.omit({ seed: true }).extend({ member: z.number().int().min(0) }))
    .min(1)
    .max(1000),
  blend: blendSchema.optional(),
});
type SavedState = Omit<z.infer<typeof stateSchema>, 'seed'>;

export function putCheckpoint(tensors: Map<string, Tensor>, checkpoint: Checkpoint): string {
  if (checkpoint.method === 'ranking') return putRankingStates(tensors, checkpoint);
  const { state, tables, totals } = checkpoint;
  const features = featuresOf(tables.items);
  for (const name of SIDES) {
    const put = putInto(tensors, `checkpoint.${name}.`);
    const table = tables[name];
    // Tables that the model already holds bit for bit are not stored twice.
    if (table.weightShape instanceof Float64Array) putTable(put, table, table.weightShape.length, features);
    put('mass', totals[name].mass);
    put('leftover', totals[name].unseenMass);
    put('leftover_at', totals[name].unseenMassAt);
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
  const { seed, blend, items } = checkpoint;
  const rows = items.weightShape.length;
  if (blend?.start) putInto(tensors, 'checkpoint.')('blend', blend.start, [rows, blend.start.length / rows]);
  return JSON.stringify({ seed, fits, ...(blend && { blend: blend.found }) });
}

const fitPrefix = (n: number): string => `checkpoint.${n}.`;

function featuresOf(table: TableValues): number {
  return table.featureShape.length / Math.max(1, table.weightShape.length);
}

/** `stopped` is the fit that was stopped, where the model's own tensors hold it. */
export function getCheckpoint(
  read: TensorReader,
  model: Model,
  stopped: Readonly<Record<SideName, ModelSide>> | undefined,
  text: string | undefined,
): Checkpoint | undefined {
  if (text === undefined) return undefined;
  const said: unknown = JSON.parse(text);
  const { options, fingerprint } = model.provenance;
  const origin = { options, fingerprint };
  const several = typeof said === 'object' && said !== null && 'fits' in said;
  const saved = several ? undefined : stateSchema.parse(said);
  if (!saved || saved.seed !== undefined) return { ...getRankingStates(read, model, said, saved), origin };
  const { seed: _, ...rest } = saved;
  const state = stateOf(rest);
  if (model.type !== 'posterior') throw new Error('the checkpoint of an ascent beside a ranker');
  const { features } = model;
  const table = (name: SideName): TableValues => {
    const prefix = `checkpoint.${name}.`;
    if (read.has(`${prefix}weight_shape`)) return savedTable(read, prefix, model[name].count, features);
    if (!stopped) throw new Error(`tensor ${prefix}weight_shape is missing or of another type`);
    return stopped[name];
  };
  const total = (name: SideName): TableTotals => {
    const get = (what: string) =>
      read.numbers(`checkpoint.${name}.${what}`, Float64Array, features, NOT_NEGATIVE);
    return { mass: get('mass'), unseenMass: get('leftover'), unseenMassAt: get('leftover_at') };
  };
  const checkpoint: AscentCheckpoint = {
    method: 'ascent',
    origin,
    state,
    tables: { users: table('users'), items: table('items') },
    totals: { users: total('users'), items: total('items') },
  };
  return checkpoint;
}

function stateOf({ warmSweeps, likelihood, ...rest }: SavedState): LoopState {
  return { ...rest, warmSweeps, likelihood };
}

/** A table of either precision. */
export function savedTable(read: TensorReader, prefix: string, rows: number, features: number): TableValues {
  const double = read.tensors.get(`${prefix}weight_shape`)?.data instanceof Float64Array;
  const type = double ? Float64Array : Float32Array;
  return getTable<Float32Array | Float64Array>(read, prefix, type, rows, features);
}

/** `first` is the state in a file that has only one fit under way: its model's last. */
function getRankingStates(
  read: TensorReader,
  model: Model,
  said: unknown,
  first: z.infer<typeof stateSchema> | undefined,
): Omit<RankingCheckpoint, 'origin'> {
  if (model.type !== 'ranker' || model.scores.kind !== 'factors') {
    throw new Error('the checkpoint of a fit for ranking beside another model');
  }
  const { members } = model.scores;
  const { seed, fits, blend } = first
    ? {
        seed: first.seed!,
        fits: [{ ...first, member: members.length - 1, prefix: 'checkpoint.' }],
        blend: undefined,
      }
    : withPrefixes(fitsSchema.parse(said));
  const underWay = fits.map(({ member, prefix, seed: _, ...state }: SavedFit): RankingState => {
    if (member >= members.length) {
      throw new Error(`the checkpoint is of member ${member} of ${members.length}`);
    }
    const { features } = members[member];
    const foldMass = read.numbers(`${prefix}fold_mass`, Float64Array, undefined, NOT_NEGATIVE);
    if (foldMass.length === 0 || foldMass.length % features !== 0) {
      throw new Error(`tensor ${prefix}fold_mass has ${foldMass.length} values`);
    }
    const items = savedTable(read, `${prefix}items.`, model.items.count, features);
    return { state: stateOf(state), items, foldMass };
  });
  const going = new Set(fits.map(({ member }) => member));
  const done = members.filter((_, member) => !going.has(member));
  const [one, ...others] = underWay;
  const found = {
    method: 'ranking',
    seed,
    ...one,
    done,
    ...(others.length > 0 && { others }),
    ...(blend && { blend: { found: blend, ...getBlendStart(read, model.items.count) } }),
  } as const;
  const numbers = numbersUnderWay(found);
  if (fits.some(({ member }, n) => member !== numbers[n])) {
    throw new Error('the members that the checkpoint is of do not follow the others');
  }
  return found;
}

/** Where the least squares of a blend begin, if they do not begin with nothing. */
function getBlendStart(read: TensorReader, items: number): Pick<PreviousBlend, 'start'> {
  if (!read.has('checkpoint.blend')) return {};
  return { start: read.numbers('checkpoint.blend', Float32Array, LEAST_SQUARES.features * items, FINITE) };
}

type SavedFit = SavedState & { readonly member: number; readonly prefix: string; readonly seed?: unknown };

function withPrefixes({ seed, fits, blend }: z.infer<typeof fitsSchema>) {
  return { seed, blend, fits: fits.map((fit, n): SavedFit => ({ ...fit, prefix: fitPrefix(n) })) };
}
