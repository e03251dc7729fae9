// graphex serve: serves a model and the page over HTTP until it is stopped.

import type { SERVE } from '../../options/commands/serve.js';
import type { OptionsOf } from '../../options/declare.js';
import { serve } from '../../serve/serve.js';
import { safeJson } from '../../text/untrusted.js';
import { type CommandContext, declareCommand, print } from '../command.js';

export const register = declareCommand(
  'serve',
  {
    description:
      'Answers recommendations, rankings and explanations over HTTP; / is a page, /docs lists the endpoints.',
    takes: { '[model]': 'a model file made by `graphex fit`; without one, the page for a browser alone' },
    examples: [
      'graphex serve model.safetensors --titles books.csv',
      'graphex serve model.safetensors --host 0.0.0.0 --port 80 --key-file keys.txt',
    ],
  },
  (context, { options }, path: string | undefined) => run(path, options, context),
);

async function run(
  path: string | undefined,
  values: OptionsOf<typeof SERVE>,
  context: CommandContext,
): Promise<undefined> {
  const { signal, threads, quiet } = context;
  const log = (record: object) => process.stderr.write(`${safeJson(JSON.stringify(record))}\n`);
  const server = await serve(path, { ...values, threads, signal, ...(quiet ? {} : { onLog: log }) });
  const { hostname } = new URL(server.url);
  const only = ['127.0.0.1', '[::1]'].includes(hostname);
  const who = only
    ? 'only this machine can connect; --host 0.0.0.0 admits others'
    : values.keyFile === undefined
      ? 'everyone who reaches this address can connect; --key-file demands keys'
      : 'a key is needed';
  const places =
    path === undefined
      ? 'Open it in a browser.'
      : 'Open it in a browser for the page; /docs lists the endpoints.';
  const text = `Serving at ${server.url} (${who}). ${places}`;
  await print({ json: { url: server.url }, text }, context.json);
  await server.ended;
  return undefined;
}
