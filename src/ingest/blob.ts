// Tables in Blobs: files dropped on a page, pasted texts, answers of a server. Formats, readers and errors are those of files on disk; the
// browser decompresses gzip.

import { InputError, throwIfAborted } from '../errors.js';
import { chunksOf, isGzip, peek, readAt } from '../files/chunks.js';
import type { IdShares } from '../math/id-draws.js';
import { checkOptions } from '../options/check-options.js';
import { READ_BLOB, TASK } from '../options/shared.js';
import { type BegunSource, fileFormat } from './formats/file-formats.js';
import { shareFilter } from './intake/share-filter.js';
import { TableTarget } from './intake/target.js';
import { trimmed } from './intake/trim.js';
import type { ValueColumn } from './intake/value-column.js';
import type { ReaderOptions, ReadOptions, ReadResult, RejectSink } from './options.js';
import { readerOptions } from './reader-options.js';
import { withNames } from './side-names.js';

/** A Blob with a name for messages; the ending of the name also helps to recognise the format. */
export interface NamedBlob {
  readonly name: string;
  readonly blob: Blob;
}

/**
 * Reads a graph from a Blob. Bad rows stop it, or go to `rejects`. With `shares`, random draws decide for each user and each
 * item whether its rows are kept; the other rows count as left out by a condition.
 * @example
 * import { readBlob } from 'graphex';
 * const blob = new Blob(['customer,product\nann,tea\nbob,milk\n']); // in a page: a dropped file
 * const { graph, guess } = await readBlob({ name: 'orders.csv', blob });
 * console.log(graph.edges, guess.columns);
 */
export async function readBlob(
  source: NamedBlob,
  given: Omit<ReadOptions, 'rejects' | 'table' | 'database'> = {},
  rejects?: RejectSink,
  shares?: IdShares,
): Promise<ReadResult> {
  // The further column is internal, not an option.
  const { value, ...plain } = given as ReaderOptions;
  const asked = { ...readerOptions(checkOptions({ ...READ_BLOB, ...TASK }, plain)), value };
  const options = shares ? { ...asked, filter: shareFilter(shares, asked) } : asked;
  throwIfAborted(options.signal);
  const opened = await openBlob(source);
  const target = new TableTarget(options, rejects);
  await fileFormat(opened).fill(opened, options, target);
  return withNames(trimmed(target.finish(source.name), options, source.name), options.names);
}

/** Opens a Blob, and decompresses it if it is gzip. */
export async function openBlob({ name, blob }: NamedBlob): Promise<BegunSource> {
  const gzipped = isGzip(name, await readAt(blob, 0, 2));
  let consumed = 0;
  const counted = blob.stream().pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        consumed += chunk.length;
        controller.enqueue(chunk);
      },
    }),
  );
  const stream: ReadableStream<Uint8Array> = gzipped
    ? counted.pipeThrough(new DecompressionStream('gzip'))
    : counted;
  const { first, all, close } = await peek(guarded(name, gzipped, chunksOf(stream)));
  return {
    name,
    first,
    size: blob.size,
    consumed: () => consumed,
    chunks: all,
    async inFile(use) {
      if (!gzipped) {
        await close();
        return use({ name, blob });
      }
      const parts: Uint8Array<ArrayBuffer>[] = [];
      for await (const part of all) parts.push(part as Uint8Array<ArrayBuffer>);
      return use({ name, blob: new Blob(parts) });
    },
  };
}

/** The same with a further number for each edge: a time (`timeColumn`), in the order of graph.users.neighbors. */
export async function readBlobWithValues(
  source: NamedBlob,
  given: Parameters<typeof readBlob>[1],
  value: ValueColumn,
  rejects?: RejectSink,
  shares?: IdShares,
): Promise<ReadResult & { readonly values: Float64Array }> {
  const options: ReaderOptions = { ...given, value };
  const { values, ...result } = await readBlob(source, options, rejects, shares);
  return { ...result, values: values! };
}

async function* guarded(
  name: string,
  gzipped: boolean,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    // A file that was removed or changed gives a DOMException; any other error of gzip means damaged data.
    throw new InputError(
      gzipped && !(cause instanceof DOMException)
        ? `${name}: the gzip data is damaged or cut short (${why}); fetch or compress it again`
        : `${name}: it cannot be read (${why}); check the file and give it again`,
    );
  }
}
