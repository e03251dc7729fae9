// Kinds of files that graphex reads, each with valid samples to damage and a function that reads the damaged file. The library
// is an argument: a test passes the sources, bench/fuzz.ts passes the build.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { closeTensors, type Dice, type Json, mutate, mutateJson, openTensors } from './mutate.js';

type UnfinishedFit = import('../../src/index.js').UnfinishedFit;
type Library = typeof import('../../src/index.js');
type Graph = Awaited<ReturnType<Library['readGraph']>>['graph'];
type Options = NonNullable<Parameters<Library['readGraph']>[1]>;

export interface Kind {
  readonly name: string;
  /** Writes a damaged input into the folder; returns how to read it. */
  prepare(dice: Dice, folder: string): () => Promise<void>;
  /** Ends what the inputs have started. */
  close?(): Promise<void>;
}

export type Outcome = 'read' | 'refused' | `bug: ${string}`;

/** Reads one input: success, a refusal with a sentence, or anything else, which is a bug. */
export async function attempt(run: () => Promise<void>): Promise<Outcome> {
  try {
    await run();
    return 'read';
  } catch (error) {
    const { name, message, stack } = error as Error;
    if (name !== 'InputError' && name !== 'FitError') return `bug: ${stack ?? message}`;
    return message.length > 5000 ? `bug: a message of ${message.length} characters` : 'refused';
  }
}

/** All kinds, with samples made in `folder`. */
export async function fuzzKinds(library: Library, folder: string): Promise<Kind[]> {
  const tables = tableSamples();
  const samples = join(folder, 'samples');
  mkdirSync(samples, { recursive: true });
  const table = (name: string, ending: string, texts: readonly string[], options: readonly Options[]) =>
    graphKind(library, name, ending, texts.map(encode), options);
  const counted = [
    {},
    { multigraph: true, count: 3 },
    { users: 2, items: 1 },
    { header: false },
    { header: true },
  ];

  const source = join(samples, 'graph.csv');
  writeFileSync(source, tables.csv[0]);
  const { graph } = await library.readGraph(source, { multigraph: true, count: 3 });
  const parquet: Uint8Array[] = [];
  for (const [n, text] of tables.csv.entries()) {
    writeFileSync(source, text);
    const file = join(samples, `${n}.parquet`);
    const read = await library.readGraph(source, { multigraph: n === 0, count: 3 });
    await library.writeEdges(file, read.graph);
    parquet.push(readFileSync(file));
  }
  const parquetOptions = [{}, { multigraph: true, count: 'count' }, { users: 'item', items: 'user' }];

  return [
    table('csv', 'csv', tables.csv, [...counted, { users: 'user', items: 'item' }]),
    table(
      'tsv',
      'tsv',
      tables.csv.map((text) => text.replaceAll(',', '\t')),
      counted,
    ),
    table(
      'double colon',
      'dat',
      tables.csv.map((text) => text.replaceAll(',', '::')),
      counted,
    ),
    table('json lines', 'jsonl', tables.jsonl, [
      {},
      { count: 'count', multigraph: true },
      { users: 2, items: 1 },
    ]),
    table('echonest', 'txt', [tables.plays], [{}, { multigraph: true }]).from('echonest:'),
    table('netflix', 'txt', [tables.ratings], [{}, { multigraph: true }]).from('netflix:'),
    table('wikitext', 'txt', [tables.articles], [{}, { multigraph: true }]).from('wikitext:'),
    table('text', 'txt', [tables.articles, tables.csv[1]], [{}, { commonWords: 1 }]).from('text:'),
    graphKind(library, 'gzip', 'csv.gz', tables.csv.map(encode), counted, { gzip: true }),
    graphKind(library, 'parquet', 'parquet', parquet, parquetOptions, { binary: true }),
    graphKind(library, 'gzipped parquet', 'parquet.gz', parquet, parquetOptions, {
      binary: true,
      gzip: true,
    }),
    await modelKind(library, samples, graph),
    await stoppedKind(library, samples, graph),
    await splitKind(library, samples, graph),
  ];
}

function graphKind(
  library: Library,
  name: string,
  ending: string,
  samples: readonly Uint8Array[],
  options: readonly Options[],
  { binary = false, gzip = false }: { binary?: boolean; gzip?: boolean } = {},
): Kind & { from(prefix: string): Kind } {
  const make = (prefix: string): Kind => ({
    name,
    prepare(dice, folder) {
      const file = join(folder, `damaged.${ending}`);
      const [one, other] = [samples[dice.below(samples.length)], samples[dice.below(samples.length)]];
      // Of a compressed file, either the content or the compressed bytes are damaged.
      const inside = gzip && dice.below(2) === 0;
      const damaged = mutate(gzip && !inside ? gzipSync(one) : one, dice, other, binary);
      writeFileSync(file, inside ? gzipSync(damaged) : damaged);
      const rejects = dice.below(2) === 0 ? undefined : join(folder, 'rejects.csv');
      const chosen = { ...options[dice.below(options.length)], rejects, threads: 1 };
      return async () => {
        const { graph, read } = await library.readGraph(prefix + file, chosen);
        checkGraph(graph);
        check(read.rows === read.kept + read.merged + read.rejected, 'rows do not add up');
        check(read.kept === graph.edges, 'kept is not the number of edges');
      };
    },
  });
  return { ...make(''), from: make };
}

/** A model with everything that a file can hold, damaged in its bytes, or in its header with a right checksum. */
async function modelKind(library: Library, samples: string, graph: Graph): Promise<Kind> {
  const fitted = await library.fit(graph, { features: 3, iterations: 6, engine: 'reference' });
  return tensorsKind(library, samples, 'model', fitted);
}

/** The same for stopped ranking fits, with two members under way. */
async function stoppedKind(library: Library, samples: string, graph: Graph): Promise<Kind> {
  const controller = new AbortController();
  const stopped = await library
    .fit(graph, {
      ...{
        method: 'ranking',
        features: 3,
        iterations: 6,
        average: 3,
        blend: false,
        engine: 'cpu',
        threads: 1,
      },
      signal: controller.signal,
      onProgress: () => controller.abort(),
    } as const)
    .catch((error) => library.unfinishedFit(error));
  if (stopped?.checkpoint?.method !== 'ranking') throw new Error('the fit was not stopped');
  return tensorsKind(library, samples, 'stopped ranking', stopped);
}

async function tensorsKind(
  library: Library,
  samples: string,
  name: string,
  {
    model: saved,
    checkpoint,
  }: {
    readonly model: UnfinishedFit['model'];
    readonly checkpoint?: UnfinishedFit['checkpoint'] | undefined;
  },
): Promise<Kind> {
  const path = join(samples, `${name}.safetensors`);
  await library.saveModel(path, saved, { checkpoint });
  const sound = readFileSync(path);
  return {
    name,
    prepare(dice, folder) {
      const file = join(folder, 'damaged.safetensors');
      const how = dice.below(3);
      if (how === 0) writeFileSync(file, mutate(sound, dice, sound, true));
      else {
        const { header, data } = openTensors(sound);
        const changed = dice.below(3) === 0 ? mutate(data, dice, data, true) : data;
        writeFileSync(
          file,
          closeTensors(mutateJson(header, dice) as Record<string, Json>, changed, how === 1),
        );
      }
      return async () => {
        const model = await library.loadModel(file);
        if (model.users.count === 0) return;
        for (const { item, score } of await library.recommend(model, { user: model.users.ids.at(0) })) {
          check(typeof item === 'string' && item !== 'undefined', `the item ${item} is recommended`);
          check(!Number.isNaN(score), `${item} is recommended without a score`);
        }
      };
    },
  };
}

/** A split of which one file is damaged, lost or exchanged for another. */
async function splitKind(library: Library, samples: string, graph: Graph): Promise<Kind> {
  const home = join(samples, 'split');
  await library.saveSplit(home, library.split(graph, { seed: 3, testUsers: 0.3, testItems: 0.3 }));
  const names = readdirSync(home);
  const sound = new Map(names.map((name) => [name, new Uint8Array(readFileSync(join(home, name)))]));
  return {
    name: 'split folder',
    prepare(dice, folder) {
      const place = join(folder, 'damaged-split');
      rmSync(place, { recursive: true, force: true });
      mkdirSync(place);
      const victim = names[dice.below(names.length)];
      const other = sound.get(names[dice.below(names.length)])!;
      for (const [name, bytes] of sound) {
        if (name !== victim) writeFileSync(join(place, name), bytes);
        else if (name === 'split.json' && dice.below(2) === 0) {
          const document = JSON.parse(Buffer.from(bytes).toString());
          writeFileSync(join(place, name), JSON.stringify(mutateJson(document, dice)));
        } else if (dice.below(10) === 0) writeFileSync(join(place, name), other);
        else if (dice.below(20) > 0) writeFileSync(join(place, name), mutate(bytes, dice, other, true));
      }
      return async () => {
        const { train, foldIn, test, assignment: coins } = await library.loadSplit(place, { threads: 1 });
        for (const part of [train, foldIn, test]) checkGraph(part);
        for (const { ids, drawn } of [coins.users, coins.items]) {
          check(ids.length === drawn.length, 'not a coin for each id');
        }
      };
    },
  };
}

/** Whatever was read must be a graph. */
function checkGraph({ users, items, edges, total }: Graph): void {
  for (const [side, other] of [
    [users, items],
    [items, users],
  ] as const) {
    check(side.ids.length === side.count, 'not an id for each vertex');
    check(side.offsets.length === side.count + 1 && side.offsets[side.count] === edges, 'offsets');
    let sum = 0;
    for (let v = 0; v < side.count; v++) {
      check(side.offsets[v] < side.offsets[v + 1], 'a vertex without an edge');
      for (let e = side.offsets[v]; e < side.offsets[v + 1]; e++) {
        check(side.neighbors[e] < other.count, 'a neighbour that does not exist');
        check(e === side.offsets[v] || side.neighbors[e - 1] < side.neighbors[e], 'neighbours not ascending');
        sum += side.counts?.[e] ?? 1;
      }
    }
    check(sum === total, 'counts do not add up');
  }
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function tableSamples() {
  const pairs = Array.from({ length: 120 }, (_, r) => [(r * r) % 17, (r * 7) % 23, 1 + (r % 3)] as const);
  const integers = pairs.map((row) => row.join(',')).join('\n');
  const texts = pairs.map(([u, i, n]) => `"user ""${u}"" é",item ${i},${n}`).join('\r\n');
  const objects = pairs.map(([user, item, count]) => JSON.stringify({ user, item: `i${item}`, count }));
  const sentence = (u: number, i: number) =>
    `The ${'weights of sparse graphs '.repeat(1 + (i % 2))} number ${u} don’t`;
  return {
    csv: [`user,item,count\n${integers}\n`, `user,item,count\r\n${texts}`, integers],
    jsonl: [objects.join('\n'), pairs.map((row) => JSON.stringify(row)).join('\n')],
    plays: pairs.map(([u, i, n]) => `u${u}\tSO${i}\t${n}`).join('\n'),
    ratings: pairs.map(([u, i, n]) => `${i + 1}:\n${u + 100},${n},2005-01-01\n`).join(''),
    articles: pairs
      .map(([u, i]) => ` = Title ${u} = \n\n${sentence(u, i)}\n = = Part = = \n${sentence(i, u)}\n`)
      .join(''),
  };
}
