// Which clients may ask, and how often. Keys come from a file with one key a line. Only hashes of keys are kept, and a
// comparison takes the same time whatever is sent.

import { createHash, timingSafeEqual } from 'node:crypto';
import { InputError } from '../errors.js';
import { shown } from '../text/untrusted.js';
import { Problem } from './problems.js';

export interface Key {
  /** The name of the key in logs. The key itself is never logged. */
  readonly name: string;
  /** Whether the key may also load models and see user ids. */
  readonly admin: boolean;
}

export type KeyRing = ReturnType<typeof readKeys>;

const SHORTEST_KEY = 16;
const MOST_KEYS = 10_000;

/**
 * Reads a file of keys. A line is `KEY`, `NAME KEY` or `NAME KEY admin`. KEY is a text of at least 16 characters, or
 * `sha256:` and the hash of one in hexadecimal. Empty lines and lines that begin with # are skipped.
 */
export function readKeys(text: string, path: string) {
  const keys: (Key & { readonly hash: Buffer })[] = [];
  const names = new Set<string>();
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const words = line.trim().split(/\s+/);
    if (words[0] === '' || words[0].startsWith('#')) continue;
    const wrong = (what: string) => new InputError(`${path}, line ${at + 1}: ${what}`);
    if (words.length > 3 || (words.length === 3 && words[2] !== 'admin')) {
      throw wrong('expected KEY, NAME KEY or NAME KEY admin');
    }
    const [name, secret] = words.length === 1 ? [`key ${keys.length + 1}`, words[0]] : words;
    // Logs and the rate limit know keys by name.
    if (names.has(name)) {
      throw wrong(`an earlier line has the name ${shown(name)}; give each key a name of its own`);
    }
    names.add(name);
    keys.push({ name, admin: words.length === 3, hash: hashOf(secret, wrong) });
    if (keys.length > MOST_KEYS) throw wrong(`more than ${MOST_KEYS} keys`);
  }
  if (keys.length === 0) throw new InputError(`${path}: there is no key in this file; write one key a line`);
  return {
    /** The key that was sent, or undefined. Compares with every key, so that the time reveals nothing. */
    find(sent: string): Key | undefined {
      const hash = digest(sent);
      let found: Key | undefined;
      for (const key of keys) if (timingSafeEqual(key.hash, hash)) found = key;
      return found;
    },
  };
}

function hashOf(secret: string, wrong: (what: string) => InputError): Buffer {
  if (secret.startsWith('sha256:')) {
    const hex = secret.slice(7);
    if (!/^[0-9a-f]{64}$/i.test(hex)) throw wrong('sha256: must be followed by 64 hexadecimal digits');
    return Buffer.from(hex, 'hex');
  }
  if (secret.length < SHORTEST_KEY) throw wrong(`the key is shorter than ${SHORTEST_KEY} characters`);
  return digest(secret);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

const MOST_CLIENTS = 10_000;

export type RateLimit = ReturnType<typeof createRateLimit>;

/** Allows `perSecond` requests a second on average and twice as many in a burst: a token bucket for each client. */
export function createRateLimit(perSecond: number, now: () => number = () => performance.now()) {
  const size = Math.max(1, 2 * perSecond);
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    /** Counts one request of this client. Throws a Problem with the time to wait if there were too many. */
    take(client: string): void {
      const time = now();
      const known = buckets.get(client);
      // Deleting and adding keeps the map in order of use. The client that was idle longest is dropped first.
      buckets.delete(client);
      const tokens = known ? Math.min(size, known.tokens + ((time - known.at) / 1000) * perSecond) : size;
      if (buckets.size >= MOST_CLIENTS) buckets.delete(buckets.keys().next().value as string);
      if (tokens < 1) {
        buckets.set(client, { tokens, at: time });
        const seconds = Math.ceil((1 - tokens) / perSecond);
        throw new Problem(
          'too-many-requests',
          `more than ${perSecond} requests a second from one client; wait ${seconds} s`,
          { retryAfter: seconds },
        );
      }
      buckets.set(client, { tokens: tokens - 1, at: time });
    },
    /** Counts further requests of one that was admitted: a batch. The client waits afterwards. */
    charge(client: string, requests: number): void {
      const known = buckets.get(client);
      if (known) known.tokens -= requests;
    },
  };
}
