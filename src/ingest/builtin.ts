// Sets that come with the package: `@sotu`, `@simulated`, `@simulated-small`.

import { readFile } from 'node:fs/promises';
import { brotliDecompressSync } from 'node:zlib';
import { simulate } from '../process/poisson-model.js';
import type { ReadOptions, ReadResult, RejectSink } from './options.js';
import { DocumentCollector } from './words.js';

/** State of the Union addresses × stemmed words, 1790 on. */
export async function readSotu(
  _source: string,
  options: ReadOptions,
  rejects?: RejectSink,
): Promise<ReadResult> {
  // Tests import the sources; the texts are only in dist/.
  const file = new URL('./sotu.json.br', import.meta.url).href.replace(/\/src\/(?=ingest\/[^/]*$)/, '/dist/');
  const packed = await readFile(new URL(file));
  const texts: { year: number; name: string; text: string }[] = JSON.parse(
    brotliDecompressSync(packed).toString(),
  );
  const addresses = new DocumentCollector('@sotu', options, rejects);
  for (const { year, name, text } of texts) addresses.add(`${year}-${name}`, text);
  return addresses.finish('speeches', 'text');
}

/** The paper's simulated set (section 9 of the model), always the same draw, at the given size of both sides. */
export async function drawPaperSet(size: number, options: ReadOptions): Promise<ReadResult> {
  const side = { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size };
  const { multigraph, threads, signal, onProgress } = options;
  const { graph } = await simulate({
    users: side,
    items: side,
    features: 30,
    multigraph,
    threads,
    signal,
    onProgress,
    seed: 1,
  });
  return {
    graph,
    read: { rows: graph.edges, kept: graph.edges, merged: 0, rejected: 0 },
    guess: { kind: 'simulated', format: 'simulated', columns: { users: 'user', items: 'item' } },
  };
}
