// What a stopped fit needs to go on, as tensors under checkpoint.*, beside its model.

import { z } from 'zod';
import type { TableTotals, TableValues } from '../engine/engine.js';
import type { AscentCheckpoint, Checkpoint, LoopState } from '../fit/loop.js';
import type { Model, ModelSide } from '../fit/model.js';
import { SIDES, type SideName } from '../graph/graph.js';
import { boundsSchema, getTable, putTable } from './posterior-tensors.js';
import { NOT_NEGATIVE, putInto, type TensorReader } from './tensor-reader.js';
import type { Tensor } from './tensors.js';
import { hyperSchema } from './vertex-tensors.js';

/** Where a fit stands, as JSON. */
export const stateSchema = z.object({
  iteration: z.number().int().min(0),
  warmSweeps: z.number().int().min(0).optional(),
  former: z.boolean().optional(),
  sampled: z.boolean().optional(),
  carried: z.boolean().optional(),
  jumped: z.boolean().optional(),
  walks: z.boolean().optional(),
  bounds: boundsSchema,
  likelihood: z.number().optional(),
  relaxation: z.number().min(0).max(1),
  hyper: hyperSchema,
  /** Of a fit for ranking alone. */
  seed: z.number().int().min(0).optional(),
});

export function putCheckpoint(tensors: Map<string, Tensor>, checkpoint: Checkpoint): string {
  const features = featuresOf(checkpoint);
  if (checkpoint.method === 'ranking') {
    const { state, items, foldMass, seed } = checkpoint;
    const put = putInto(tensors, 'checkpoint.');
    putTable(putInto(tensors, 'checkpoint.items.'), items, items.weightShape.length, features);
    put('fold_mass', foldMass, [foldMass.length / features, features]);
    return JSON.stringify({ ...state, seed });
  }
  const { state, tables, totals } = checkpoint;
  for (const name of SIDES) {
    const put = putInto(tensors, `checkpoint.${name}.`);
    const table = tables[name];
    // Tables that the model already holds bit for bit are not stored twice.
    if (table.weightShape instanceof Float64Array) putTable(put, table, table.weightShape.length, features);
    put('mass', totals[name].mass);
    put('leftover', totals[name].leftover);
    put('leftover_at', totals[name].leftoverAt);
  }
  return JSON.stringify(state);
}

function featuresOf(checkpoint: Checkpoint): number {
  const table = checkpoint.method === 'ranking' ? checkpoint.items : checkpoint.tables.items;
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
  const { seed, warmSweeps, likelihood, ...rest } = stateSchema.parse(JSON.parse(text));
  const state: LoopState = { ...rest, warmSweeps, likelihood };
  const { options: settings, fingerprint } = model.provenance;
  const began = { settings, fingerprint };
  const features =
    model.type === 'posterior'
      ? model.features
      : model.scores.kind === 'factors'
        ? model.scores.members[0].features
        : 0;
  const table = (name: SideName): TableValues => {
    const prefix = `checkpoint.${name}.`;
    const { count } = model[name];
    if (!read.has(`${prefix}weight_shape`)) {
      if (!stopped) throw new Error(`tensor ${prefix}weight_shape is missing or of another type`);
      return stopped[name];
    }
    const type =
      read.tensors.get(`${prefix}weight_shape`)!.data instanceof Float64Array ? Float64Array : Float32Array;
    return getTable<Float32Array | Float64Array>(read, prefix, type, count, features);
  };
  if (seed !== undefined) {
    if (model.type !== 'ranker' || model.scores.kind !== 'factors') {
      throw new Error('the checkpoint of a fit for ranking beside another model');
    }
    // Of several fits the last is the one that was stopped.
    const done = model.scores.members.slice(0, -1);
    const foldMass = read.numbers('checkpoint.fold_mass', Float64Array, undefined, NOT_NEGATIVE);
    if (foldMass.length === 0 || foldMass.length % features !== 0) {
      throw new Error(`tensor checkpoint.fold_mass has ${foldMass.length} values`);
    }
    return { method: 'ranking', began, state, items: table('items'), foldMass, seed, done };
  }
  if (model.type !== 'posterior') throw new Error('the checkpoint of an ascent beside a ranker');
  const total = (name: SideName): TableTotals => {
    const get = (what: string) =>
      read.numbers(`checkpoint.${name}.${what}`, Float64Array, features, NOT_NEGATIVE);
    return { mass: get('mass'), leftover: get('leftover'), leftoverAt: get('leftover_at') };
  };
  const checkpoint: AscentCheckpoint = {
    method: 'ascent',
    began,
    state,
    tables: { users: table('users'), items: table('items') },
    totals: { users: total('users'), items: total('items') },
  };
  return checkpoint;
}
