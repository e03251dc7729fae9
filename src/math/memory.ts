// Allocates typed arrays. Threads share them if the runtime has shared memory: in Node, and in a cross-origin isolated
// page (COOP and COEP). Otherwise arrays are plain and all work runs in the caller's thread, with the same numbers.

type TypedArray =
  | Uint8Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array;
type ArrayType<T> = (new (buffer: ArrayBufferLike) => T) & { readonly BYTES_PER_ELEMENT: number };

/** Whether threads can share memory here. Checked on every call, because tests turn it off. */
export function canShareMemory(): boolean {
  return typeof SharedArrayBuffer !== 'undefined';
}

export function allocateBytes(bytes: number): ArrayBufferLike {
  return canShareMemory() ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
}

/** A zeroed array: `allocate(Float32Array, rows * features)`. */
export function allocate<T extends TypedArray>(type: ArrayType<T>, length: number): T {
  return new type(allocateBytes(type.BYTES_PER_ELEMENT * length));
}

export function isShared(values: TypedArray): boolean {
  return canShareMemory() && values.buffer instanceof SharedArrayBuffer;
}

/** The values in shared memory: unchanged if they are there already, otherwise a copy. */
export function inSharedMemory<T extends Exclude<TypedArray, BigInt64Array>>(values: T): T {
  if (!canShareMemory() || isShared(values)) return values;
  const copy = allocate(values.constructor as ArrayType<T>, values.length);
  copy.set(values);
  return copy;
}

/** A copy of whole numbers below 2³², in shared memory if there is any. */
export function allocateFrom(values: ArrayLike<number>): Uint32Array {
  const result = allocate(Uint32Array, values.length);
  result.set(values);
  return result;
}

/** The same values in a longer array: of at least twice the length, and `atLeast`. */
export function grown<T extends Exclude<TypedArray, BigInt64Array>>(values: T, atLeast = 0): T {
  const longer = new (values.constructor as new (length: number) => T)(Math.max(2 * values.length, atLeast));
  longer.set(values);
  return longer;
}

/** All values, one array after another, in an array of its own. */
export function concat<T extends Exclude<TypedArray, BigInt64Array>>(
  type: new (length: number) => T,
  parts: readonly ArrayLike<number>[],
): T {
  const all = new type(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** A shared counter that starts at 0. */
export function createCounter(): Int32Array {
  return allocate(Int32Array, 1);
}
