// Small Parquet files that unpack to much data: groups of rows that all point to the same pages.

import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type Encoded, i32, i64, list, struct, text, varint } from '../../src/parquet/thrift.js';

export const CODECS = {
  gzip: { number: 2, pack: (page: Uint8Array) => gzipSync(page, { level: 9 }) },
  Brotli: {
    number: 4,
    pack: (page: Uint8Array) => brotliCompressSync(page, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  },
} as const;

interface Page {
  readonly dictionary: boolean;
  readonly values: number;
  readonly encoding: 'plain' | 'places';
  readonly body: Uint8Array;
}

/** A page of the ids; `places` refer to the dictionary before them. */
export function idsPage(ids: readonly string[], dictionary: boolean): Page {
  const parts = ids.flatMap((id) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(Buffer.byteLength(id));
    return [length, Buffer.from(id)];
  });
  return { dictionary, values: ids.length, encoding: 'plain', body: Buffer.concat(parts) };
}

/** A page that refers `values` times to the first value of the dictionary, in a few bytes. */
export function runPage(values: number): Page {
  return {
    dictionary: false,
    values,
    encoding: 'places',
    body: Buffer.concat([Uint8Array.of(1), varint(2 * values), Uint8Array.of(0)]),
  };
}

/** A page that refers once to each value of a dictionary with `values` entries. */
export function allPage(values: number): Page {
  const body = Buffer.alloc(4 * 8 * Math.ceil(values / 8));
  for (let value = 0; value < values; value++) body.writeUInt32LE(value, 4 * value);
  const head = Buffer.concat([Uint8Array.of(32), varint(2 * Math.ceil(values / 8) + 1)]);
  return { dictionary: false, values, encoding: 'places', body: Buffer.concat([head, body]) };
}

/**
 * A file of two columns of texts. Each of `parts` is the pages of both columns for one group of rows; the groups refer
 * to the parts in turn, `groups` in all.
 */
export function parquetBomb(
  parts: readonly (readonly [readonly Page[], readonly Page[]])[],
  groups: number,
  codec: (typeof CODECS)[keyof typeof CODECS] = CODECS.gzip,
): Uint8Array {
  const bytes: Uint8Array[] = [Buffer.from('PAR1')];
  let position = 4;
  const written = parts.map((columns) => {
    const rows = columns[0].reduce((sum, page) => sum + (page.dictionary ? 0 : page.values), 0);
    const chunks = columns.map((pages, c): Encoded => {
      const first = position;
      let data = position;
      for (const page of pages) {
        const body = codec.pack(page.body);
        const encoding = i32(page.encoding === 'plain' ? 0 : 8);
        const header = struct(
          [1, i32(page.dictionary ? 2 : 0)],
          [2, i32(page.body.length)],
          [3, i32(body.length)],
          page.dictionary
            ? [7, struct([1, i32(page.values)], [2, encoding])]
            : [5, struct([1, i32(page.values)], [2, encoding], [3, i32(3)], [4, i32(3)])],
        ).bytes;
        if (page.dictionary) data = position + header.length + body.length;
        bytes.push(header, body);
        position += header.length + body.length;
      }
      const meta = struct(
        [1, i32(6)],
        [2, list([i32(0)])],
        [3, list([text('ab'[c])])],
        [4, i32(codec.number)],
        [5, i64(rows)],
        [6, i64(position - first)],
        [7, i64(position - first)],
        [9, i64(data)],
        ...(data > first ? [[11, i64(first)] as const] : []),
      );
      return struct([2, i64(first)], [3, meta]);
    });
    return { rows, group: struct([1, list(chunks)], [2, i64(1)], [3, i64(rows)]) };
  });
  const all = Array.from({ length: groups }, (_, g) => written[g % written.length]);
  const column = (name: string) => struct([1, i32(6)], [3, i32(0)], [4, text(name)], [6, i32(0)]);
  const footer = struct(
    [1, i32(2)],
    [2, list([struct([4, text('rows')], [5, i32(2)]), column('a'), column('b')])],
    [3, i64(all.reduce((sum, { rows }) => sum + rows, 0))],
    [4, list(all.map(({ group }) => group))],
  ).bytes;
  const end = Buffer.alloc(8);
  end.writeUInt32LE(footer.length);
  end.write('PAR1', 4);
  return Buffer.concat([...bytes, footer, end]);
}
