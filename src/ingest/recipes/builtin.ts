// The texts that come with the package: `@sotu`.

import { readFile } from 'node:fs/promises';
import { brotliDecompressSync } from 'node:zlib';
import { built } from '../../parallel/spawn.js';
import type { ReadOptions, ReadResult, RejectSink } from '../options.js';

/** State of the Union addresses × stemmed words, 1790 on. */
export async function readSotu(
  _source: string,
  options: ReadOptions,
  rejects?: RejectSink,
): Promise<ReadResult> {
  const packed = await readFile(built(new URL('./sotu.json.br', import.meta.url)));
  const texts: { year: number; name: string; text: string }[] = JSON.parse(
    brotliDecompressSync(packed).toString(),
  );
  const { DocumentCollector } = await import('./words.js');
  const addresses = new DocumentCollector('@sotu', options, rejects);
  for (const { year, name, text } of texts) addresses.add(`${year}-${name}`, text);
  return addresses.finish('speeches', 'text');
}
