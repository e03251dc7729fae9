// The edges of a graph as rows of text and as columns. Nothing here needs Node.

import { InputError } from '../errors.js';
import type { BipartiteGraph, GraphSide } from '../graph/graph.js';
import type { OutputColumn } from '../parquet/write.js';
import { shown } from '../text/untrusted.js';

const PIECE = 1 << 16;

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

/** A header and the rows, in pieces; with a column of times if they are given. */
export function* edgeText(graph: BipartiteGraph, separator: string, times?: Float64Array): Generator<string> {
  const { offsets, neighbors, counts, ids, count } = graph.users;
  const items = Array.from({ length: graph.items.count }, (_, i) => cell(graph.items.ids.at(i), separator));
  let text = `user${separator}item${counts ? `${separator}count` : ''}${times ? `${separator}time` : ''}\n`;
  for (let user = 0; user < count; user++) {
    const start = cell(ids.at(user), separator) + separator;
    for (let e = offsets[user]; e < offsets[user + 1]; e++) {
      text += start + items[neighbors[e]];
      if (counts) text += `${separator}${counts[e]}`;
      text += times ? `${separator}${times[e]}\n` : '\n';
      if (text.length > PIECE) {
        yield text;
        text = '';
      }
    }
  }
  yield text;
}

/** The id as a cell, in double quotes if it would be misread without them. */
export function cell(id: string, separator: string): string {
  if (separator === '\t' && id.includes('\n')) {
    throw new InputError(
      `the id "${shown(id)}" holds a line break, which a .tsv file cannot hold; write a .csv or .parquet`,
    );
  }
  if (id.includes('\0')) {
    throw new InputError(
      `the id "${shown(id)}" holds a zero byte, which no table of text can hold; rename it, or write a .parquet`,
    );
  }
  return id.includes(separator) || /["\r\n]/.test(id) ? `"${id.replaceAll('"', '""')}"` : id;
}
