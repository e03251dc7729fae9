// The load test of a server: recommendations, and events if asked for.

import { InputError, throwIfAborted } from '../errors.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import type { LOAD } from '../options/commands/load.js';
import type { SettingsOf } from '../options/declare.js';
import { shown } from '../text/untrusted.js';
import { runLoad } from './paced-load.js';

interface LoadServerOptions extends Omit<SettingsOf<typeof LOAD>, 'keyFile'> {
  readonly key?: string | undefined;
  readonly seed: number;
  readonly signal?: AbortSignal | undefined;
}

const LIKES = 20;
const N = 20;
const BODIES = 1000;
const EVENT_BATCH = 100;
/** Users of the events of a load test; they can be erased by this name. */
const USER = 'graphex-load-';
const USERS = 1000;
/** How long the first answer may take, and how large it may be. */
const PATIENCE_MS = 10_000;
const MOST_BYTES = 1 << 24;

/** Events are sent in batches of 100; without any, the result has none. */
export async function loadServer(url: string, options: LoadServerOptions) {
  const { rate, seconds, key, signal } = options;
  const items = await popularItems(url, key, signal);
  const random = randomStream(options.seed, STREAMS.load);
  const item = () => items[random.below(items.length)];
  const bodies = Array.from({ length: BODIES }, () =>
    JSON.stringify({ likes: [...new Set(Array.from({ length: LIKES }, item))], n: N }),
  );
  const batches = Array.from({ length: options.events > 0 ? 100 : 0 }, () =>
    JSON.stringify(
      Array.from({ length: EVENT_BATCH }, () => ({ user: `${USER}${random.below(USERS)}`, item: item() })),
    ),
  );
  const common = { url, seconds, key, signal };
  const [recommendations, events] = await Promise.all([
    runLoad({ ...common, path: '/v1/recommend', bodies, rate }),
    options.events > 0
      ? runLoad({ ...common, path: '/v1/events', bodies: batches, rate: options.events / EVENT_BATCH })
      : undefined,
  ]);
  return { recommendations, ...(events && { events }) };
}

/** Items of the server's model. */
async function popularItems(
  url: string,
  key: string | undefined,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  let answer: unknown;
  try {
    const response = await fetch(new URL('/v1/popular?n=1000', url), {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      signal: AbortSignal.any([AbortSignal.timeout(PATIENCE_MS), ...(signal ? [signal] : [])]),
    });
    answer = await jsonOf(response);
  } catch {
    throwIfAborted(signal);
    throw new InputError(`${url}: no server answers there; check the address, or start npx graphex serve`);
  }
  // Anything may answer at the address.
  const { items, detail } = (answer ?? {}) as { items?: unknown; detail?: unknown };
  if (Array.isArray(items) && items.length > 0 && items.every((one) => typeof one?.item === 'string')) {
    return items.map(({ item }) => item);
  }
  const why = typeof detail === 'string' ? shown(detail, 300) : 'this is not a graphex server with a model';
  throw new InputError(`${url}: ${why}`);
}

/** The JSON document of an answer; undefined if the answer is not JSON, or too large. */
async function jsonOf(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}
