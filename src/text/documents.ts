// Sentences on what is wrong with a document from outside: the place, and what the check of its form found there.

import { list, many } from './phrases.js';
import { shown } from './untrusted.js';

/** The first issue that the checker reports. */
interface Issue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly expected?: string;
  readonly origin?: string;
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
  readonly values?: readonly unknown[];
  readonly keys?: readonly string[];
}

const ENTRY = { one: 'entry', many: 'entries' };
const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  bigint: 'a whole number',
  boolean: 'true or false',
  int: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a text',
  tuple: 'a list',
};

/** 'users should be a whole number' for an error of the checker; undefined for any other error. */
export function documentProblem(error: unknown): string | undefined {
  const [issue] = (error as { readonly issues?: readonly Issue[] } | null)?.issues ?? [];
  if (!issue) return undefined;
  const at = issue.path.length === 0 ? 'the document' : shown(issue.path.map(String).join('.'));
  return `${at} ${should(issue)}`;
}

function should({ code, expected = '', origin, minimum, maximum, values, keys, message }: Issue): string {
  const size = (limit: number | bigint | undefined, most: 'least' | 'most') =>
    origin === 'array' || origin === 'string'
      ? `should have at ${most} ${many(Number(limit), origin === 'array' ? ENTRY : 'character')}`
      : `should be at ${most} ${limit}`;
  switch (code) {
    case 'invalid_type':
      return `should be ${KINDS[expected] ?? expected}`;
    case 'invalid_value':
      return `should be ${list(
        (values ?? []).map((value) => JSON.stringify(value)),
        'or',
      )}`;
    case 'too_small':
      return size(minimum, 'least');
    case 'too_big':
      return size(maximum, 'most');
    case 'unrecognized_keys':
      return `has unknown fields: ${list(
        (keys ?? []).map((key) => shown(key)),
        'and',
      )}`;
    // The message of one of our own checks.
    case 'custom':
      return `is wrong: ${message}`;
    default:
      return 'is not of the right form';
  }
}
