// A graph as a table of its edges, with the ids it was read with.

import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { InputError } from '../errors.js';
import { writeAtomic } from '../files/atomic.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { writeParquet } from '../parquet/write.js';
import { edgeColumns, edgeText } from './edge-rows.js';

/**
 * Writes the edges as columns user, item and, for a multigraph, count, in the order of users. The ending chooses the
 * format: .parquet, .csv, .tsv, the latter two also with .gz.
 */
export async function writeEdges(path: string, graph: BipartiteGraph): Promise<void> {
  const { kind, gzipped } = edgesFormat(path);
  await writeAtomic(path, async (beside) => {
    if (kind === 'parquet') return writeParquet(beside, graph.edges, edgeColumns(graph));
    const rows = Readable.from(edgeText(graph, kind === 'csv' ? ',' : '\t'), { objectMode: false });
    const file = createWriteStream(beside);
    await (gzipped ? pipeline(rows, createGzip({ level: 4 }), file) : pipeline(rows, file));
  });
}

/** The format that a path's ending stands for; throws where it stands for none, so a command can ask before its work. */
export function edgesFormat(path: string): {
  readonly kind: 'parquet' | 'csv' | 'tsv';
  readonly gzipped: boolean;
} {
  const ending = /\.(parquet|csv|tsv)(\.gz)?$/i.exec(path);
  const kind = ending?.[1]?.toLowerCase() as 'parquet' | 'csv' | 'tsv' | undefined;
  const gzipped = ending?.[2] !== undefined;
  if (!kind || (kind === 'parquet' && gzipped)) {
    throw new InputError(
      `${path}: the format is not known by this ending; use .parquet, .csv, .tsv, .csv.gz or .tsv.gz`,
    );
  }
  return { kind, gzipped };
}
