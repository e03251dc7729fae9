// The users of a model, separate from the rest: their tables in one form for all kinds of models. So users can be stored in
// shards, apart from the items.

import { TABLE_FIELDS } from '../../engine/engine.js';
import { VertexIds } from '../../graph/ids.js';
import type { Model, ModelSide, PosteriorModel, Ranker, SeenItems, Vertices } from '../model.js';

/** Tables of users, each rows × its width: shapes and rates of a posterior, or means of each member of a ranker. */
export type UserTables = readonly Float32Array[];

/** Number of values per user in each table. */
export function userWidths(model: Model): number[] {
  if (model.type === 'posterior') return [1, 1, model.features, model.features];
  return model.scores.kind === 'factors' ? model.scores.members.map(({ features }) => features) : [];
}

/** The tables of a model's users; empty for a ranker whose users are folded in. */
export function userTables(model: Model): UserTables {
  if (model.type === 'posterior') return TABLE_FIELDS.map((field) => model.users[field]);
  if (model.scores.kind !== 'factors') return [];
  return model.scores.members.flatMap(({ users }) => (users ? [users] : []));
}

export const NOBODY: Vertices = Object.freeze({
  count: 0,
  ids: VertexIds.texts([]),
  degree: new Uint32Array(0),
});

/** The same model with other users, given by their vertices, tables and items. */
export function withUsers(
  model: Model,
  vertices: Vertices,
  tables: UserTables,
  seen: SeenItems | undefined,
): Model {
  const { seen: _, ...rest } = model;
  const has = seen && { seen: Object.freeze(seen) };
  if (rest.type === 'posterior') {
    const [weightShape, weightRate, featureShape, featureRate] = tables;
    const { unseenMass, hyper, counts: __, ...apart } = rest.users;
    const users: ModelSide = Object.freeze({
      ...apart,
      ...vertices,
      ...{ weightShape, weightRate, featureShape, featureRate },
      ...{ unseenMass, hyper },
    });
    return Object.freeze({ ...rest, users, ...has }) satisfies PosteriorModel;
  }
  if (rest.scores.kind !== 'factors') return Object.freeze({ ...rest, users: vertices, ...has });
  const members = rest.scores.members.map((member, m) => Object.freeze({ ...member, users: tables.at(m) }));
  const scores = Object.freeze({ ...rest.scores, members: Object.freeze(members) });
  return Object.freeze({ ...rest, users: vertices, scores, ...has }) satisfies Ranker;
}

export function withoutUsers(model: Model): Model {
  const tables = model.type === 'posterior' ? userWidths(model).map(() => new Float32Array(0)) : [];
  return withUsers(model, NOBODY, tables, undefined);
}
