// Writes tables to files: the edges of a graph, and lists of recommendations. The ending of the path chooses the format.

import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { InputError } from '../errors.js';
import { writeAtomic } from '../files/atomic.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { writeParquet } from '../parquet/write.js';
import { edgeColumns, edgeText } from './edge-rows.js';
import { type Batches, type ListsKind, listPieces } from './list-pieces.js';

interface TableFormat<K> {
  readonly kind: K;
  readonly gzipped: boolean;
}

/**
 * Writes the edges as columns user, item and, for a multigraph, count, in the order of users. The ending chooses the
 * format: .parquet, .csv, .tsv, the latter two also with .gz.
 * @example
 * import { readGraph, simulate, writeEdges } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * await writeEdges('edges.csv', graph);
 * console.log((await readGraph('edges.csv')).graph.edges === graph.edges);
 */
export async function writeEdges(path: string, graph: BipartiteGraph): Promise<void> {
  const { kind, gzipped } = edgesFormat(path);
  await writeAtomic(path, async (temporary) => {
    if (kind === 'parquet') return writeParquet(temporary, graph.edges, edgeColumns(graph));
    await writeStream(temporary, edgeText(graph, kind === 'csv' ? ',' : '\t'), gzipped);
  });
}

/** Writes lists of recommendations; the file appears whole, or not at all. `titled`: with a column of titles. */
export async function writeLists(path: string, batches: Batches, titled: boolean): Promise<void> {
  const { kind, gzipped } = listsFormat(path);
  await writeAtomic(path, (temporary) => writeStream(temporary, listPieces(kind, batches, titled), gzipped));
}

async function writeStream(
  path: string,
  pieces: Iterable<string> | AsyncIterable<string | Uint8Array>,
  gzipped: boolean,
): Promise<void> {
  const rows = Readable.from(pieces, { objectMode: false });
  const file = createWriteStream(path);
  await (gzipped ? pipeline(rows, createGzip({ level: 4 }), file) : pipeline(rows, file));
}

/** The format of a file of edges; throws if the ending is unknown, so that a command can ask before its work. */
export function edgesFormat(path: string): TableFormat<'parquet' | 'csv' | 'tsv'> {
  return formatOf(path, ['csv', 'tsv'], '.parquet, .csv, .tsv, .csv.gz or .tsv.gz');
}

/** The same for a file of lists. */
export function listsFormat(path: string): TableFormat<ListsKind> {
  const texts = ['csv', 'tsv', 'jsonl', 'ndjson'] as const;
  const { kind, gzipped } = formatOf(path, texts, '.csv, .tsv, .jsonl (these also with .gz) or .parquet');
  return { kind: kind === 'ndjson' ? 'jsonl' : kind, gzipped };
}

/** Text formats may be compressed as a whole; Parquet compresses its own columns. */
function formatOf<K extends string>(
  path: string,
  texts: readonly K[],
  endings: string,
): TableFormat<K | 'parquet'> {
  const [, ending, packed] = /\.([a-z]+)(\.gz)?$/i.exec(path) ?? [];
  const kind = ending?.toLowerCase() as K | 'parquet' | undefined;
  const gzipped = packed !== undefined;
  if (kind === 'parquet' ? !gzipped : texts.includes(kind as K)) return { kind: kind!, gzipped };
  throw new InputError(`${path}: the format is not known by this ending; use ${endings}`);
}
