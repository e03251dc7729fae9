import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { InputError } from '../../src/errors.js';
import { writeAtomic, writePieces } from '../../src/files/atomic.js';
import { writeFolder } from '../../src/files/folder.js';
import { buildGraph } from '../../src/graph/build.js';
import { fingerprint } from '../../src/graph/fingerprint.js';
import { VertexIds } from '../../src/graph/ids.js';
import { readGraph } from '../../src/ingest/read.js';
import { writeEdges } from '../../src/store/write-table.js';
import { temporaryIsFull } from '../faults/full-temporary.js';
import { edgesOf, scratchFolder } from '../ingest/scratch.js';

vi.mock('../../src/files/temporary-name.js', { spy: true });

const scratch = scratchFolder();
const ENDINGS = ['csv', 'tsv', 'csv.gz', 'tsv.gz', 'parquet'];

const textGraph = buildGraph({
  users: [0, 0, 1],
  items: [0, 1, 1],
  counts: [1, 4, 2],
  userCount: 2,
  itemCount: 2,
  userIds: VertexIds.texts(['a "b"', 'c,d\te']),
  itemIds: VertexIds.texts(['0054890', 'line\nbreak']),
  multigraph: true,
});

describe('writeEdges', () => {
  it('refuses ids with a zero byte, which no reader accepts', async () => {
    const odd = buildGraph({
      ...{ users: [0], items: [0], userCount: 1, itemCount: 1 },
      ...{ userIds: VertexIds.texts(['a\0b']), itemIds: VertexIds.texts(['x']) },
    });
    for (const ending of ['csv', 'tsv.gz']) {
      const path = scratch.path(`zero.${ending}`);
      await expect(writeEdges(path, odd)).rejects.toThrow(/"a\\u0000b" holds a zero byte/);
      expect(existsSync(path)).toBe(false);
    }
  });

  it.each(ENDINGS)('reads back what it wrote: .%s', async (ending) => {
    const path = scratch.path(`edges.${ending}`);
    if (ending.startsWith('tsv')) {
      await expect(writeEdges(path, textGraph)).rejects.toThrow(/"line\\nbreak" holds a line break/);
      return;
    }
    await writeEdges(path, textGraph);
    const options = { users: 'user', items: 'item', count: 'count', multigraph: true };
    const { graph } = await readGraph(path, options);
    expect(edgesOf(graph)).toEqual(edgesOf(textGraph));
    expect(fingerprint(graph)).toBe(fingerprint(textGraph));
  });

  it('writes whole numbers and simple graphs plainly', async () => {
    const graph = buildGraph({ users: [0, 1], items: [1, 0], userCount: 2, itemCount: 2 });
    await writeEdges(scratch.path('plain.csv'), graph);
    expect(readFileSync(scratch.path('plain.csv'), 'utf8')).toBe('user,item\n0,1\n1,0\n');
    await writeEdges(scratch.path('plain.tsv.gz'), graph);
    expect(gunzipSync(readFileSync(scratch.path('plain.tsv.gz'))).toString()).toBe(
      'user\titem\n0\t1\n1\t0\n',
    );
  });

  it('keeps any graph, in any format', async () => {
    // Graphemes have no line breaks: a .tsv cannot store them.
    const id = fc.string({ minLength: 1, maxLength: 5, unit: 'grapheme' });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(id, fc.nat(40)), { minLength: 1, maxLength: 40 }),
        fc.constantFrom('csv', 'tsv', 'parquet'),
        async (rows, ending) => {
          const users = [...new Set(rows.map((row) => row[0]))].sort((a, b) => (a < b ? -1 : 1));
          const items = [...new Set(rows.map((row) => row[1]))].sort((a, b) => a - b);
          const graph = buildGraph({
            users: rows.map((row) => users.indexOf(row[0])),
            items: rows.map((row) => items.indexOf(row[1])),
            userCount: users.length,
            itemCount: items.length,
            userIds: VertexIds.texts(users),
            itemIds: VertexIds.integers(Float64Array.from(items)),
          });
          const path = scratch.path(`any.${ending}`);
          await writeEdges(path, graph);
          expect(fingerprint((await readGraph(path)).graph)).toBe(fingerprint(graph));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('refuses endings it does not know', async () => {
    for (const name of ['edges.xlsx', 'edges', 'edges.parquet.gz']) {
      await expect(writeEdges(scratch.path(name), textGraph)).rejects.toThrow(
        /format is not known by this ending/,
      );
    }
  });

  it('reports a path that it cannot write', async () => {
    await expect(writeEdges(scratch.path('no/such/edges.csv'), textGraph)).rejects.toThrow(
      /folder does not exist/,
    );
    const file = scratch.write('plain', 'text');
    for (const name of ['edges.csv', join('deep', 'edges.parquet')]) {
      const attempt = writeEdges(join(file, name), textGraph);
      await expect(attempt).rejects.toBeInstanceOf(InputError);
      await expect(attempt).rejects.toThrow(
        `${file} is a file where a folder is needed; choose another path`,
      );
    }
    mkdirSync(scratch.path('taken.csv'));
    await expect(writeEdges(scratch.path('taken.csv'), textGraph)).rejects.toBeInstanceOf(InputError);
    expect(readdirSync(scratch.path('')).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it.skipIf(!existsSync('/dev/full')).each(['csv', 'csv.gz', 'parquet'])(
    'a full disk leaves the old file as it was: .%s',
    async (ending) => {
      mkdirSync(scratch.path(`full-${ending}`));
      const path = scratch.path(`full-${ending}/edges.${ending}`);
      await writeEdges(path, textGraph);
      const before = readFileSync(path);
      temporaryIsFull(path);
      await expect(writeEdges(path, textGraph)).rejects.toMatchObject({
        name: 'InputError',
        message: expect.stringMatching(/edges\..*: the disk is full; nothing was written/),
      });
      expect(readFileSync(path)).toEqual(before);
      expect(readdirSync(scratch.path(`full-${ending}`))).toEqual([`edges.${ending}`]);
    },
  );
});

describe('atomic writes', () => {
  it('leave nothing of a write that failed', async () => {
    const path = scratch.path('whole.txt');
    const write = (text: string) => writeAtomic(path, (beside) => writePieces(beside, [text]));
    await write('old');
    const failing = writeAtomic(path, async (beside) => {
      await writePieces(beside, ['half']);
      throw new RangeError('a bug');
    });
    await expect(failing).rejects.toBeInstanceOf(RangeError);
    expect(readFileSync(path, 'utf8')).toBe('old');
    await write('new');
    expect(readFileSync(path, 'utf8')).toBe('new');
  });

  it('give all files of a folder or none, and no folder', async () => {
    const fine = (beside: string) => writePieces(beside, ['fine']);
    const full = async () => {
      throw Object.assign(new Error('write'), { code: 'ENOSPC' });
    };
    const deep = scratch.path('new/deep');
    await expect(writeFolder(deep, { 'a.txt': fine, 'b.txt': full })).rejects.toThrow(
      /b\.txt: the disk is full/,
    );
    expect(existsSync(scratch.path('new'))).toBe(false);
    await writeFolder(deep, { 'a.txt': fine, 'b.txt': fine });
    expect(readdirSync(deep).sort()).toEqual(['.graphex.json', 'a.txt', 'b.txt']);
  });

  it('are refused with a sentence if no folder can be made, and leave none behind', async () => {
    const files = { 'a.txt': (beside: string) => writePieces(beside, ['fine']) };
    const below = join(scratch.write('a file', 'text'), 'x', 'y');
    await expect(writeFolder(below, files)).rejects.toThrow(
      /a file.x.y: \S+.a file is a file where a folder is needed; choose another path/,
    );
    const long = join(scratch.path('short'), 'x'.repeat(300), 'y');
    await expect(writeFolder(long, files)).rejects.toThrow(InputError);
    expect(existsSync(scratch.path('short'))).toBe(false);
  });

  it.runIf(process.platform === 'linux')('are refused below /proc, which takes no folders', async () => {
    const files = { 'a.txt': (beside: string) => writePieces(beside, ['fine']) };
    for (const folder of ['/proc/x', '/proc/x/y', '/proc/x/y/z']) {
      await expect(writeFolder(folder, files)).rejects.toThrow(`${folder}: its folder does not exist`);
    }
  });
});
