import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { STREAMS } from '../../src/math/streams.js';

test('no two kinds of work share a stream', () => {
  const tags = Object.values(STREAMS);
  expect(new Set(tags).size).toBe(tags.length);
});

test('every stream has its name here: a seed is followed by one of the names wherever a stream is created', () => {
  const root = join(import.meta.dirname, '../../src');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('math/random.ts'),
  );
  const calls = files.flatMap((name) =>
    [...readFileSync(join(root, name), 'utf8').matchAll(/(?<![`\w])randomStream\(([^()]*)\)/g)]
      .filter(([, list]) => list.includes(','))
      .map(([, list]) => ({ name, path: list.split(',')[1].trim() })),
  );
  expect(calls.length).toBeGreaterThan(20);
  expect(calls.filter(({ path }) => !path.startsWith('STREAMS.'))).toEqual([]);
});
