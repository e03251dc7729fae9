// Files that are wrong on purpose or by accident: each is read, or refused with a sentence, quickly and in little
// memory.

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { main } from '../../src/cli/main.js';
import { InputError } from '../../src/errors.js';
import { VertexIds } from '../../src/graph/ids.js';
import * as library from '../../src/index.js';
import { sideTable } from '../../src/ingest/side-table.js';
import { titlesOf } from '../../src/ingest/title-table.js';
import { randomStream } from '../../src/math/random.js';
import { literal, withDuckDB } from '../ingest/duckdb.js';
import { scratchFolder } from '../ingest/scratch.js';
import { attempt, fuzzKinds } from './fuzz.js';
import { closeTensors, type Json, mutateJson, openTensors } from './mutate.js';

const parseTitles = (text: string, ids: Parameters<typeof titlesOf>[1], name: string) =>
  titlesOf(sideTable(new TextEncoder().encode(text), name), ids, name);

vi.setConfig({ testTimeout: 180_000 });
const scratch = scratchFolder();
const { loadModel, loadSplit, readGraph, saveModel, saveSplit } = library;

/** The processor time that reading takes, and the message of the refusal. */
async function refusal(work: () => Promise<unknown>): Promise<{ message: string; seconds: number }> {
  const before = process.cpuUsage();
  const error = await work().then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(InputError);
  return { message: (error as Error).message, seconds: process.cpuUsage(before).user / 1e6 };
}

describe('damaged files', () => {
  it('of every kind are read or refused with a sentence: 20 inputs each; bench/fuzz.ts takes thousands', async () => {
    const place = scratch.path('fuzz');
    const kinds = await fuzzKinds(library, place);
    const seen = { read: 0, refused: 0 };
    for (const [k, kind] of kinds.entries()) {
      for (let input = 0; input < 20; input++) {
        const folder = scratch.path(`fuzz/${k}`);
        mkdirSync(folder, { recursive: true });
        const outcome = await attempt(kind.prepare(randomStream(99, k, input), folder));
        expect(outcome, `${kind.name}, input ${input}`).toMatch(/^(read|refused)$/);
        seen[outcome as 'read' | 'refused']++;
      }
    }
    // If all files had the same outcome, the damage would be too small or too large.
    expect(seen.read).toBeGreaterThan(20);
    expect(seen.refused).toBeGreaterThan(20);
  });

  it('a table whose first line has millions of columns does not take minutes', async () => {
    const file = scratch.write('wide.csv', `${'a,'.repeat(1 << 20)}b\n1,2\n`);
    const { message, seconds } = await refusal(() => readGraph(file));
    expect(message).toMatch(/line 2: the row has 2 columns where the first row has 1048577/);
    expect(seconds).toBeLessThan(20);
    const unknown = await refusal(() => readGraph(file, { users: 'nobody', header: true }));
    expect(unknown.message.length).toBeLessThan(2000);
  });

  it('JSON deeper than the call stack, and objects that cannot become text', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const lines = [
      [`{"user":${deep},"item":1}`, /column "user": the id is nested too deeply/],
      [`{"user":1,"item":1,"n":${deep}}`, /column "n": the count is "nested too deeply"/],
      ['{"user":1,"item":1,"n":{"toString":1,"valueOf":1}}', /column "n": the count is/],
    ] as const;
    for (const [line, says] of lines) {
      const file = scratch.write('deep.jsonl', `{"user":1,"item":2,"n":1}\n${line}\n`);
      expect((await refusal(() => readGraph(file, { count: 'n' }))).message).toMatch(says);
    }
  });

  it('a small archive of a huge line takes the memory of the line limit, not of the line', async () => {
    const file = scratch.write('bomb.csv.gz', gzipSync(Buffer.alloc(400 << 20, 'a')));
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }, 5);
    const { message } = await refusal(() => readGraph(file));
    clearInterval(watch);
    expect(message).toMatch(/only one column found|longer than/);
    expect(most).toBeLessThan(200 << 20);
  });
});

describe('a model file', () => {
  const graphFile = scratch.write('small.csv', 'a,x\na,y\nb,y\nb,z\nc,x\nc,z\n');
  async function sound(): Promise<Uint8Array> {
    const { graph } = await readGraph(graphFile);
    const { model } = await library.fit(graph, { features: 2, iterations: 5, engine: 'reference' });
    const file = scratch.path('sound.safetensors');
    await saveModel(file, model);
    return readFileSync(file);
  }

  it.each([
    ['that ends before its header', (bytes: Uint8Array) => wordAt(bytes, 0, 1n << 50n)],
    ['whose header has no end', (bytes: Uint8Array) => wordAt(bytes, 0, (1n << 64n) - 1n)],
    ['whose header is longer than the file', (bytes: Uint8Array) => wordAt(bytes, 0, 90_000_000n)],
  ])('%s is refused before memory is taken', async (_, damage) => {
    const file = scratch.write('damaged.safetensors', damage(await sound()));
    const before = process.memoryUsage().arrayBuffers;
    await refusal(() => loadModel(file));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50 << 20);
  });

  it.each([
    ['that claims 2^50 bytes', { shape: [2 ** 48], data_offsets: [0, 2 ** 50] }, /cut short|damaged/],
    ['of negative size', { shape: [-1], data_offsets: [4, 0] }, /damaged/],
    ['of two negative sizes', { shape: [-1, -4], data_offsets: [0, 16] }, /damaged/],
    ['whose shape is no shape', { shape: [{ toString: 1 }], data_offsets: [0, 4] }, /damaged/],
    ['of a type that every object has', { dtype: 'constructor' }, /damaged/],
  ])('with a tensor %s is refused, also under a checksum that holds', async (_, change, says) => {
    const { header, data } = openTensors(await sound());
    header['users.weight_shape'] = { ...(header['users.weight_shape'] as object), ...change } as Json;
    const file = scratch.write('damaged.safetensors', closeTensors(header, data, true));
    expect((await refusal(() => loadModel(file))).message).toMatch(says);
  });

  it('whose version is not a text is refused', async () => {
    const { header, data } = openTensors(await sound());
    header.__metadata__ = { ...(header.__metadata__ as object), format_version: { toString: 1 } } as Json;
    const file = scratch.write('damaged.safetensors', closeTensors(header, data, true));
    expect((await refusal(() => loadModel(file))).message).toMatch(/not a model file/);
  });

  it('whose tensors lie over one another is refused: a header could ask for the file a thousand times', async () => {
    const { header, data } = openTensors(await sound());
    for (let copy = 0; copy < 1000; copy++) {
      header[`copy${copy}`] = { dtype: 'U8', shape: [data.length], data_offsets: [0, data.length] };
    }
    const file = scratch.write('damaged.safetensors', closeTensors(header, data, true));
    expect((await refusal(() => loadModel(file))).message).toMatch(/damaged/);
  });

  it('with numbers that no posterior has, or items that are not there, is refused', async () => {
    for (const [tensor, value, says] of [
      ['items.feature_rate', 0, /items\.feature_rate holds 0/],
      ['users.weight_shape', Number.NaN, /users\.weight_shape holds NaN/],
    ] as const) {
      const { header, data } = openTensors(await sound());
      const changed = data.slice();
      const [start] = (header[tensor] as { data_offsets: number[] }).data_offsets;
      new DataView(changed.buffer).setFloat32(start!, value, true);
      const file = scratch.write('damaged.safetensors', closeTensors(header, changed, true));
      expect((await refusal(() => loadModel(file))).message).toMatch(says);
    }
    const { header, data } = openTensors(await sound());
    const changed = data.slice();
    const [start] = (header['users.neighbors'] as { data_offsets: number[] }).data_offsets;
    new DataView(changed.buffer).setUint32(start!, 3, true);
    const file = scratch.write('damaged.safetensors', closeTensors(header, changed, true));
    expect((await refusal(() => loadModel(file))).message).toMatch(
      /users\.neighbors holds item \d+, and the last item is/,
    );
  });
});

describe('a split folder', () => {
  it('whose assignment has other numbers, or is missing, is refused with a sentence', async () => {
    const { graph } = await readGraph('@simulated-small', { threads: 1 });
    const folder = scratch.path('split');
    await saveSplit(folder, library.split(graph));
    const coins = scratch.path('split/coins-users.parquet');
    const rewrite = (drawn: string) =>
      withDuckDB(1, async (connection) => {
        await connection.run(
          `CREATE TABLE coins AS SELECT id, ${drawn} AS drawn FROM read_parquet(${literal(coins)})`,
        );
        await connection.run(`COPY coins TO ${literal(coins)} (FORMAT parquet)`);
      });
    await rewrite('CAST(drawn AS BIGINT)');
    expect((await loadSplit(folder)).assignment.users.drawn.length).toBe(graph.users.count);
    await rewrite('CASE WHEN drawn = 1 THEN 257 ELSE 0 END');
    expect((await refusal(() => loadSplit(folder))).message).toMatch(/random draws are not those/);
    await rewrite("'heads'");
    expect((await refusal(() => loadSplit(folder))).message).toMatch(/the random draws cannot be read/);
    const record = JSON.parse(readFileSync(scratch.path('split/split.json'), 'utf8'));
    scratch.write('split/split.json', JSON.stringify({ ...record, version: { toString: 1 } }));
    expect((await refusal(() => loadSplit(folder))).message).toMatch(
      /has format version unknown, and this graphex reads version 1 only/,
    );
  });
});

describe('smaller files', () => {
  it('titles are searched in the first columns of a line with a million', () => {
    const wide = `1,The first${',x'.repeat(1 << 20)}\n2,The second${',y'.repeat(1 << 20)}\n`;
    const before = process.cpuUsage();
    const titles = parseTitles(wide, VertexIds.integers(Float64Array.of(1, 2)), 'titles.csv');
    expect(titles.find('2')).toBe('The second');
    expect(process.cpuUsage(before).user).toBeLessThan(20e6);
  });

  it('an invalid receipt is refused with a sentence, whatever is missing', async () => {
    const sound = {
      format: 'graphex-study',
      version: 1,
      receipt: {
        fingerprint: 'of other data',
        settings: { models: ['sparse'], given: { users: {}, items: {} } },
        origin: { source: '@simulated-small', read: {}, titles: null },
      },
    };
    const random = randomStream(5);
    const output = scratch.path('study');
    for (let input = 0; input < 40; input++) {
      const file = scratch.write('results.json', JSON.stringify(mutateJson(sound, random)));
      const said: string[] = [];
      const write = process.stderr.write;
      process.stderr.write = ((text: string) => said.push(text) > 0) as typeof write;
      const status = await main(['node', 'graphex', 'study', '--from', file, '-o', output, '--quiet']);
      process.stderr.write = write;
      expect(status, said.join('')).toBe(2);
    }
    expect(existsSync(output)).toBe(false);
  });
});

function wordAt(bytes: Uint8Array, at: number, word: bigint): Uint8Array {
  const result = new Uint8Array(bytes);
  new DataView(result.buffer).setBigUint64(at, word, true);
  return result;
}
