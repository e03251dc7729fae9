import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { BipartiteGraph } from '../../src/graph/graph.js';

/** A folder for the files of one test file, removed at its end. */
export function scratchFolder(): {
  path(name: string): string;
  write(name: string, data: string | Uint8Array): string;
} {
  const folder = mkdtempSync(join(tmpdir(), 'graphex-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const path = (name: string) => join(folder, name);
  return {
    path,
    write(name, data) {
      writeFileSync(path(name), data);
      return path(name);
    },
  };
}

/** The edges as sorted texts "user item count", by the original ids. */
export function edgesOf(graph: BipartiteGraph): string[] {
  const { users, items } = graph;
  const edges: string[] = [];
  for (let u = 0; u < users.count; u++) {
    for (let e = users.offsets[u]; e < users.offsets[u + 1]; e++) {
      edges.push(JSON.stringify([users.ids.at(u), items.ids.at(users.neighbors[e]), users.counts?.[e] ?? 1]));
    }
  }
  return edges.sort();
}
