// A model in a form that crosses threads without being copied: its arrays lie in shared memory, and so do its ids.

import type { Model, Vertices } from '../fit/model.js';
import { VertexIds } from '../graph/ids.js';
import { inSharedMemory } from '../math/memory.js';

/** Ids as numbers, or as texts one after the other. */
type SharedIds =
  | { readonly kind: 'integer'; readonly values: Float64Array }
  | { readonly kind: 'text'; readonly bytes: Uint8Array; readonly ends: Uint32Array };

/** What `shareModel` makes: plain values and shared arrays. */
export interface SharedModel {
  readonly model: unknown;
  readonly users: SharedIds;
  readonly items: SharedIds;
}

export function shareModel(model: Model): SharedModel {
  return {
    model: shareTables(model),
    users: sharedIds(model.users.ids),
    items: sharedIds(model.items.ids),
  };
}

/** The model without its ids, for those who know vertices by their numbers alone. */
export function shareTables(model: Model): unknown {
  const side = (vertices: Vertices) => ({ ...vertices, ids: undefined });
  return shared({ ...model, users: side(model.users), items: side(model.items) });
}

export function modelOf({ model, users, items }: SharedModel): Model {
  const value = model as Model;
  return Object.freeze({
    ...value,
    users: Object.freeze({ ...value.users, ids: idsOf(users) }),
    items: Object.freeze({ ...value.items, ids: idsOf(items) }),
  }) as Model;
}

/** The same value with every array in shared memory. */
function shared(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return inSharedMemory(value as Float32Array);
  if (Array.isArray(value)) return value.map(shared);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shared(part)]));
}

function sharedIds(ids: VertexIds): SharedIds {
  const { values } = ids;
  if (values instanceof Float64Array) return { kind: 'integer', values: inSharedMemory(values) };
  const encoder = new TextEncoder();
  const ends = new Uint32Array(values.length);
  const pieces = values.map((text) => encoder.encode(text));
  let end = 0;
  for (const [i, piece] of pieces.entries()) {
    end += piece.length;
    ends[i] = end;
  }
  const bytes = new Uint8Array(end);
  for (const [i, piece] of pieces.entries()) bytes.set(piece, i === 0 ? 0 : ends[i - 1]);
  return { kind: 'text', bytes: inSharedMemory(bytes), ends: inSharedMemory(ends) };
}

function idsOf(ids: SharedIds): VertexIds {
  if (ids.kind === 'integer') return VertexIds.integers(ids.values);
  // A decoder takes no view of shared memory.
  const bytes = ids.bytes.slice();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const texts = Array.from(ids.ends, (end, i) =>
    decoder.decode(bytes.subarray(i === 0 ? 0 : ids.ends[i - 1], end)),
  );
  return VertexIds.texts(texts);
}
