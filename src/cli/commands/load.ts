// graphex load: a load test of a server.

import { InputError } from '../../errors.js';
import { readPlainText } from '../../files/plain-file.js';
import { loadServer } from '../../load/load-server.js';
import type { LoadResult } from '../../load/paced-load.js';
import { withDefaults } from '../../options/check-options.js';
import { LOAD } from '../../options/commands/load.js';
import { textTable } from '../../report/terminal/text-table.js';
import { grouped } from '../../text/numbers.js';
import { shown } from '../../text/untrusted.js';
import { declareCommand } from '../command.js';

export const register = declareCommand(
  'load',
  {
    description: 'Tests a server under load, with recommendations and events at fixed rates.',
    takes: { '<url>': 'address of the server, as in http://localhost:8080' },
    examples: [
      'graphex load http://localhost:8080 --rate 500 --seconds 60',
      'graphex load http://localhost:8080 --rate 200 --events 2000 --key-file key.txt',
    ],
  },
  async ({ signal, seed }, { options }, url: string) => {
    if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
      throw new InputError(`${shown(url)}: expected an address such as http://localhost:8080`);
    }
    const { rate, seconds, events, keyFile } = withDefaults(LOAD, options);
    const key = keyFile === undefined ? undefined : await firstLine(keyFile);
    const result = await loadServer(url, { rate, seconds, events, key, seed, signal });
    const rows = [
      row('recommendations', result.recommendations),
      ...(result.events ? [row('batches of 100 events', result.events)] : []),
    ];
    const head = ['', 'sent', 'answers', 'lost', 'p50 ms', 'p99 ms', 'slowest ms'];
    const table = textTable([head, ...rows]);
    return { json: result, text: result.events ? `${table}\n\n${STORED}` : table };
  },
);

const STORED =
  'The store now has made-up events of the users graphex-load-0 to graphex-load-999, which count for popular items and refits. DELETE /v1/users/{id} erases a user.';

function row(name: string, { sent, statuses, errors, p50, p99, slowest }: LoadResult): string[] {
  const seen = Object.entries(statuses).map(([status, count]) => `${grouped(count)} × ${status}`);
  const time = (value: number) => (Number.isFinite(value) ? value.toFixed(1) : '–');
  return [name, grouped(sent), seen.join(', '), grouped(errors), time(p50), time(p99), time(slowest)];
}

const MOST_KEY_BYTES = 65_536;

async function firstLine(path: string): Promise<string> {
  const text = await readPlainText(
    path,
    MOST_KEY_BYTES,
    () => new InputError(`${path}: a key must be in a plain file of at most ${MOST_KEY_BYTES} bytes`),
  );
  const [key = ''] = text.split(/\r?\n/, 1);
  if (!/^\S{1,512}$/.test(key))
    throw new InputError(`${path}: its first line is no key; write the key alone`);
  return key;
}
