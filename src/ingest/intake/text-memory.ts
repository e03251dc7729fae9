import { InputError } from '../../errors.js';

/** Bytes that V8 needs for a text and its entries in two lists, in addition to its characters. */
const TEXT_OVERHEAD = 64;
/**
 * The part of V8's limit that holds only short-lived values, in MB, by V8's version: the excess of the limit over --max-old-space-size in
 * Node 20, 22, 24 and 26. V8 does not report it; later versions are assumed to equal the last.
 */
const YOUNG: Readonly<Record<number, number>> = { 11: 48, 12: 48, 13: 192, 14: 96 };
const LATEST_YOUNG = 96;
/** The share of the rest that may be used. */
const USABLE = 0.85;

/**
 * Throws if `texts` texts would not fit into V8's heap, which would end the process without a message. Arrays of numbers lie outside that
 * heap. Without V8's figures, as in a browser, it does not check.
 */
export function requireHeap(name: string, texts: number, characters: number): void {
  const v8 = globalThis.process?.getBuiltinModule?.('node:v8');
  if (!v8) return;
  const { heap_size_limit, used_heap_size: used } = v8.getHeapStatistics();
  const young = YOUNG[Number.parseInt(process.versions.v8, 10)] ?? LATEST_YOUNG;
  const limit = heap_size_limit - young * 2 ** 20;
  const need = used + texts * TEXT_OVERHEAD + characters;
  if (need < USABLE * limit) return;
  const megabytes = (bytes: number) => Math.ceil(bytes / 2 ** 20);
  throw new InputError(
    `${name}: not enough memory for ${texts} different ids: they need some ${megabytes(need)} MB, and Node has ${megabytes(limit)} MB; ` +
      `allow it more with NODE_OPTIONS=--max-old-space-size=${2 * megabytes(need)}, or number the ids`,
  );
}
