// Passes values between threads without copying: plain objects, typed arrays in shared memory, and vertex ids.

import { inSharedMemory } from '../math/memory.js';
import { VertexIds } from './ids.js';

/** The result of `toShared`, which `fromShared` reads in any thread. */
export interface Transfer<T> {
  readonly content: unknown;
  /** Never set: it carries the type of the value. */
  readonly of?: T;
}

type EncodedIds =
  | { readonly kind: 'integer'; readonly values: Float64Array }
  | { readonly kind: 'text'; readonly bytes: Uint8Array; readonly ends: Uint32Array };

const IDS = 'vertexIds';

export function toShared<T>(value: T): Transfer<T> {
  return {
    content: eachOnce(value, (part) => {
      if (part instanceof VertexIds) return { [IDS]: encodeIds(part) };
      return ArrayBuffer.isView(part) ? inSharedMemory(part as Float32Array) : undefined;
    }),
  };
}

export function fromShared<T>({ content }: Transfer<T>): T {
  return eachOnce(content, (part) => {
    if (Object.hasOwn(part, IDS)) return decodeIds((part as { readonly [IDS]: EncodedIds })[IDS]);
    return ArrayBuffer.isView(part) ? part : undefined;
  }) as T;
}

/** Copies a value with some of its objects replaced; an object that appears twice stays one object. */
function eachOnce(value: unknown, replace: (part: object) => object | undefined): unknown {
  const known = new Map<object, unknown>();
  const visit = (part: unknown): unknown => {
    if (typeof part !== 'object' || part === null) return part;
    const before = known.get(part);
    if (before !== undefined) return before;
    const result =
      replace(part) ??
      Object.freeze(
        Array.isArray(part)
          ? part.map(visit)
          : Object.fromEntries(Object.entries(part).map(([name, own]) => [name, visit(own)])),
      );
    known.set(part, result);
    return result;
  };
  return visit(value);
}

function encodeIds(ids: VertexIds): EncodedIds {
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

function decodeIds(ids: EncodedIds): VertexIds {
  if (ids.kind === 'integer') return VertexIds.integers(ids.values);
  // A decoder does not accept views of shared memory.
  const bytes = ids.bytes.slice();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const texts = Array.from(ids.ends, (end, i) =>
    decoder.decode(bytes.subarray(i === 0 ? 0 : ids.ends[i - 1], end)),
  );
  return VertexIds.texts(texts);
}
