// Where typed arrays come from. Threads can share them where the runtime has shared memory: in Node, and in a page that
// is isolated from others (COOP and COEP). Elsewhere they are plain, and all work is done in the caller's thread: the
// numbers are the same. Nothing outside this file needs to know which.

type TypedArray =
  | Uint8Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array;
type ArrayType<T> = (new (buffer: ArrayBufferLike) => T) & { readonly BYTES_PER_ELEMENT: number };

/** Whether threads can share memory here. Asked anew each time: a page may be isolated or not, and a test hides it. */
export function canShareMemory(): boolean {
  return typeof SharedArrayBuffer !== 'undefined';
}

/** Zeroed bytes. */
export function allocateBytes(bytes: number): ArrayBufferLike {
  return canShareMemory() ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
}

/** A zeroed array: `allocate(Float32Array, rows * features)`. */
export function allocate<T extends TypedArray>(type: ArrayType<T>, length: number): T {
  return new type(allocateBytes(type.BYTES_PER_ELEMENT * length));
}

/** Whether the values lie where threads can share them. */
export function isShared(values: TypedArray): boolean {
  return canShareMemory() && values.buffer instanceof SharedArrayBuffer;
}

/** The values in memory that threads can share: themselves where they lie there already, else a copy. */
export function inSharedMemory<T extends Exclude<TypedArray, BigInt64Array>>(values: T): T {
  if (!canShareMemory() || isShared(values)) return values;
  const copy = allocate(values.constructor as ArrayType<T>, values.length);
  copy.set(values);
  return copy;
}

/** A list of whole numbers below 2³². */
export function allocateFrom(values: ArrayLike<number>): Uint32Array {
  const result = allocate(Uint32Array, values.length);
  result.set(values);
  return result;
}

/** One number from 0 on that threads count up together. */
export function createCounter(): Int32Array {
  return allocate(Int32Array, 1);
}
