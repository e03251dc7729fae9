// Small tables that go with the data, from files.

import type { TextRow } from './formats/scan.js';
import { type SideTableOptions, sideRows } from './side-table.js';
import { openSource, withTemporaryFile } from './source.js';

/** The rows of a file or of `-`, also if it is gzipped. */
export async function readSideTable(path: string, options: SideTableOptions = {}): Promise<TextRow[]> {
  const source = await openSource(path, options.signal);
  try {
    return await sideRows(
      source,
      (read) => (source.plainFile ? read(path) : withTemporaryFile(source, read)),
      options,
    );
  } finally {
    source.close();
  }
}
