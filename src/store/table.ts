// A graph as a table of its edges, with the ids it was read with.

import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { InputError } from '../errors.js';
import type { BipartiteGraph, GraphSide } from '../graph/graph.js';
import { shown } from '../text/untrusted.js';
import { writeAtomic } from './atomic.js';
import { type OutputColumn, writeParquet } from './parquet.js';

const PIECE = 1 << 16;

/**
 * Writes the edges as columns user, item and, for a multigraph, count, in the order of users. The ending chooses the
 * format: .parquet, .csv, .tsv, the latter two also with .gz.
 */
export async function writeEdges(path: string, graph: BipartiteGraph): Promise<void> {
  const { kind, gzipped } = edgesFormat(path);
  await writeAtomic(path, async (beside) => {
    if (kind === 'parquet') return writeParquet(beside, graph.edges, edgeColumns(graph));
    const rows = Readable.from(tableText(graph, kind === 'csv' ? ',' : '\t'), { objectMode: false });
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

/** The columns of the edge table, for the Parquet writer. */
export function edgeColumns(graph: BipartiteGraph): OutputColumn[] {
  const { users, items } = graph;
  const columns: OutputColumn[] = [
    { name: 'user', ids: users.ids, vertices: rowOfEdge(users) },
    { name: 'item', ids: items.ids, vertices: users.neighbors },
  ];
  if (users.counts) columns.push({ name: 'count', numbers: users.counts });
  return columns;
}

function rowOfEdge(side: GraphSide): Uint32Array {
  const rows = new Uint32Array(side.neighbors.length);
  for (let v = 0; v < side.count; v++) rows.fill(v, side.offsets[v], side.offsets[v + 1]);
  return rows;
}

function* tableText(graph: BipartiteGraph, separator: string): Generator<string> {
  const { offsets, neighbors, counts, ids, count } = graph.users;
  const items = Array.from({ length: graph.items.count }, (_, i) => cell(graph.items.ids.at(i), separator));
  let text = `user${separator}item${counts ? `${separator}count` : ''}\n`;
  for (let user = 0; user < count; user++) {
    const start = cell(ids.at(user), separator) + separator;
    for (let e = offsets[user]; e < offsets[user + 1]; e++) {
      text += start + items[neighbors[e]] + (counts ? `${separator}${counts[e]}\n` : '\n');
      if (text.length > PIECE) {
        yield text;
        text = '';
      }
    }
  }
  yield text;
}

/** The id as a cell: in double quotes where it would otherwise be misread. */
export function cell(id: string, separator: string): string {
  if (separator === '\t' && id.includes('\n')) {
    throw new InputError(
      `the id "${shown(id)}" holds a line break, which a .tsv cannot; write a .csv or .parquet`,
    );
  }
  return id.includes(separator) || /["\r\n]/.test(id) ? `"${id.replaceAll('"', '""')}"` : id;
}
