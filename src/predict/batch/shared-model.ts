// A model without its ids, in a form that crosses threads without being copied.

import type { Model, Vertices } from '../../fit/model.js';
import { toShared } from '../../graph/transfer.js';

/** For those who know vertices by their numbers alone. */
export function shareTables(model: Model): unknown {
  const side = (vertices: Vertices) => ({ ...vertices, ids: undefined });
  return toShared({ ...model, users: side(model.users), items: side(model.items) }).content;
}
