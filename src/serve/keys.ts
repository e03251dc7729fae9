// Who may ask. Keys come from a file, one a line; only their hashes are kept, and a comparison takes the same time
// whatever is sent.

import { createHash, timingSafeEqual } from 'node:crypto';
import { InputError } from '../errors.js';

export interface Key {
  /** What logs and metrics call it: never the key itself. */
  readonly name: string;
  /** May also load another model. */
  readonly admin: boolean;
}

export interface KeyRing {
  /** The key that was sent, or undefined. Looks at every key, so that time tells nothing. */
  find(sent: string): Key | undefined;
}

const SHORTEST = 16;
const MOST = 10_000;

/**
 * A line is `KEY`, `NAME KEY` or `NAME KEY admin`; KEY is a text of at least 16 characters, or `sha256:` and the hash
 * of one in hexadecimal. Empty lines and lines that begin with # are passed over.
 */
export function readKeys(text: string, path: string): KeyRing {
  const keys: (Key & { readonly hash: Buffer })[] = [];
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const parts = line.trim().split(/\s+/);
    if (parts[0] === '' || parts[0].startsWith('#')) continue;
    const wrong = (what: string) => new InputError(`${path}, line ${at + 1}: ${what}`);
    if (parts.length > 3 || (parts.length === 3 && parts[2] !== 'admin')) {
      throw wrong('expected KEY, NAME KEY or NAME KEY admin');
    }
    const [name, secret] = parts.length === 1 ? [`key ${keys.length + 1}`, parts[0]] : parts;
    keys.push({ name, admin: parts.length === 3, hash: hashOf(secret, wrong) });
    if (keys.length > MOST) throw wrong(`more than ${MOST} keys`);
  }
  if (keys.length === 0) throw new InputError(`${path}: there is no key in it; write one on a line`);
  return {
    find(sent) {
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
    if (!/^[0-9a-f]{64}$/i.test(hex)) throw wrong('after sha256: there must be 64 hexadecimal digits');
    return Buffer.from(hex, 'hex');
  }
  if (secret.length < SHORTEST) throw wrong(`the key is shorter than ${SHORTEST} characters`);
  return digest(secret);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
