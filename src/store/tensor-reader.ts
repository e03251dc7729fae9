// Takes tensors from a file by name, type, length and range. A value that a model cannot hold is an error.

import { InputError } from '../errors.js';
import { VertexIds } from '../graph/ids.js';
import { allocate } from '../math/memory.js';
import { documentProblem } from '../text/documents.js';
import type { Tensor, TensorData } from './tensors.js';

type TensorType<T> = new (buffer: ArrayBufferLike) => T;
type Numbers = Exclude<TensorData, BigInt64Array>;

/** A range of values, and its name in messages. */
export interface Range {
  readonly ok: (value: number) => boolean;
  readonly says: string;
}

export const NOT_NEGATIVE: Range = {
  ok: (x) => x >= 0 && x < Infinity,
  says: 'a finite number of 0 or more',
};
export const POSITIVE: Range = { ok: (x) => x > 0 && x < Infinity, says: 'a finite number above 0' };
export const FINITE: Range = { ok: Number.isFinite, says: 'a finite number' };
const INT32: Range = { ok: (x) => x >= 0, says: 'a whole number from 0 to 2147483647' };

/** Names of tensors that version 0.2 wrote, and the names that replaced them. */
const FORMER_NAMES: readonly (readonly [former: RegExp, name: string])[] = [
  [/^beside\./, 'blend.'],
  [/\bleftover(?=_at$|$)/, 'unseen_mass'],
];

export class TensorReader {
  readonly tensors: ReadonlyMap<string, Tensor>;

  /** Tensors of older files get their present names. */
  constructor(tensors: ReadonlyMap<string, Tensor>) {
    const present = (name: string) =>
      FORMER_NAMES.reduce((now, [former, to]) => now.replace(former, to), name);
    this.tensors = new Map(Array.from(tensors, ([name, tensor]) => [present(name), tensor]));
  }

  has(name: string): boolean {
    return this.tensors.has(name);
  }

  get<T extends TensorData>(name: string, type: TensorType<T>, length?: number): T {
    const data = this.tensors.get(name)?.data;
    if (!(data instanceof type)) throw new Error(`tensor ${name} is missing or of another type`);
    if (length !== undefined && data.length !== length) {
      throw new Error(`tensor ${name} has ${data.length} values instead of ${length}`);
    }
    return data;
  }

  /** The same, with every value within a range. */
  numbers<T extends Numbers>(name: string, type: TensorType<T>, length: number | undefined, range: Range): T {
    const values = this.get(name, type, length);
    for (let i = 0; i < values.length; i++) {
      if (range.ok(values[i])) continue;
      throw new Error(`tensor ${name} holds ${values[i]} at ${i}, where a model has ${range.says}`);
    }
    return values;
  }

  /** Whole numbers, which are stored signed. */
  whole(name: string, length?: number): Uint32Array {
    return new Uint32Array(this.numbers(name, Int32Array, length, INT32).buffer);
  }

  /** Where the list of each row starts. `lengths`: those of the lists, from the tensor `name`. */
  offsets(name: string, lengths: Uint32Array): Uint32Array {
    const offsets = allocate(Uint32Array, lengths.length + 1);
    for (let row = 0; row < lengths.length; row++) {
      const next = offsets[row] + lengths[row];
      if (next > 0xffffffff) throw new Error(`tensor ${name} adds up to more edges than a model has`);
      offsets[row + 1] = next;
    }
    return offsets;
  }

  /** Lists of items, one for each `owner`: within a list they ascend, and all are below `count`. */
  lists(name: string, offsets: Uint32Array, count: number, owner: string): Uint32Array {
    const items = this.whole(name, offsets[offsets.length - 1]);
    for (let row = 0; row + 1 < offsets.length; row++) {
      for (let e = offsets[row]; e < offsets[row + 1]; e++) {
        if (items[e] >= count) {
          throw new Error(`tensor ${name} holds item ${items[e]}, and the last item is ${count - 1}`);
        }
        if (e > offsets[row] && items[e] <= items[e - 1]) {
          throw new Error(`tensor ${name} does not ascend within ${owner}`);
        }
      }
    }
    return items;
  }

  /** The ids of a side: whole numbers, or texts as UTF-8 bytes one after the other and where each ends. */
  ids(prefix: string): VertexIds {
    const ids = this.has(`${prefix}ids`)
      ? this.#integers(`${prefix}ids`)
      : VertexIds.texts(this.texts(`${prefix}id`));
    checkDistinct(ids, prefix);
    return ids;
  }

  #integers(name: string): VertexIds {
    const values = Float64Array.from(this.get(name, BigInt64Array), Number);
    const bad = values.find((value) => !Number.isSafeInteger(value));
    if (bad !== undefined) throw new Error(`tensor ${name} holds the id ${bad}, which is not exact`);
    return VertexIds.integers(values);
  }

  /** Texts as UTF-8 bytes one after the other and where each ends. */
  texts(name: string, length?: number): string[] {
    const ends = this.get(`${name}_ends`, BigInt64Array, length);
    const shared = this.get(`${name}_text`, Uint8Array);
    const bytes = new Uint8Array(shared.length);
    bytes.set(shared); // decoders refuse shared memory
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const texts: string[] = [];
    let start = 0;
    for (const big of ends) {
      const end = Number(big);
      if (!(end >= start && end <= bytes.length)) throw new Error(`tensor ${name}_ends is not in order`);
      try {
        texts.push(decoder.decode(bytes.subarray(start, end)));
      } catch {
        throw new Error(`tensor ${name}_text holds bytes that are not UTF-8`);
      }
      start = end;
    }
    if (start !== bytes.length) throw new Error(`tensor ${name}_text is longer than its texts`);
    return texts;
  }
}

function checkDistinct(ids: VertexIds, prefix: string): void {
  const { values } = ids;
  let ascending = true;
  for (let v = 1; v < values.length && ascending; v++) ascending = values[v - 1] < values[v];
  if (ascending) return;
  const seen = new Set<string | number>();
  for (const id of values) {
    if (seen.has(id)) throw new Error(`two ${prefix.slice(0, -1)} have the id ${id}`);
    seen.add(id);
  }
}

/** Puts a tensor into a map, under a prefix. */
export type Put = (what: string, data: TensorData, shape?: readonly number[]) => void;

export function putInto(tensors: Map<string, Tensor>, prefix: string): Put {
  return (what, data, shape = [data.length]) => tensors.set(prefix + what, { shape, data });
}

/** The same bits as signed numbers, since some readers of the format lack unsigned ones. */
export function signed(values: Uint32Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length);
}

export function putIds(put: Put, ids: VertexIds): void {
  const { values } = ids;
  if (values instanceof Float64Array) {
    put('ids', BigInt64Array.from(values, BigInt));
    return;
  }
  putTexts(put, 'id', values);
}

export function putTexts(put: Put, name: string, texts: readonly string[]): void {
  const encoder = new TextEncoder();
  const ends = new BigInt64Array(texts.length);
  // A character takes three bytes at most.
  const bytes = new Uint8Array(3 * texts.reduce((sum, text) => sum + text.length, 0));
  let end = 0;
  for (let v = 0; v < texts.length; v++) {
    end += encoder.encodeInto(texts[v], bytes.subarray(end)).written;
    ends[v] = BigInt(end);
  }
  put(`${name}_ends`, ends);
  put(`${name}_text`, bytes.slice(0, end));
}

/** What files are part of, and what to do if one does not fit the others. */
export interface WholeFolder {
  readonly name: string;
  readonly remedy: string;
}

/** Reads one file of several. An error says that it does not fit the others. */
export function checkFile<T>(path: string, { name, remedy }: WholeFolder, read: () => T): T {
  return checkContents(
    read,
    (problem) => new InputError(`${path}: it does not fit the rest of the ${name} (${problem}); ${remedy}`),
  );
}

/** Runs `read`. `explain` turns an error that is not an InputError into one, from the text of its problem. */
export function checkContents<T>(read: () => T, explain: (problem: string) => InputError): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof InputError) throw cause;
    throw explain(documentProblem(cause) ?? (cause as Error).message);
  }
}
