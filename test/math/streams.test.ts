import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { STREAMS } from '../../src/math/streams.js';

test('no two kinds of work share a stream', () => {
  const tags = Object.values(STREAMS);
  expect(new Set(tags).size).toBe(tags.length);
});

test('streams have their tags from one place: no number is written where a stream is made', () => {
  const root = join(import.meta.dirname, '../../src');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const made = files.flatMap((name) =>
    [...readFileSync(join(root, name), 'utf8').matchAll(/randomStream\(([^()]*)\)/g)].map((m) => ({
      name,
      path: m[1].split(',').slice(1, 2).join().trim(),
    })),
  );
  expect(made.length).toBeGreaterThan(15);
  expect(made.filter(({ path }) => /^\d/.test(path) || path === 'STREAM')).toEqual([]);
});
