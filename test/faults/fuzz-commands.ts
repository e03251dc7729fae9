// Absurd command lines and receipts, each in a folder next to files of others. The status is 0, 2 or 128 + n, no
// terminal escapes are printed, and only the named outputs change.

import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Kind } from './fuzz.js';
import { type Dice, type Json, mutateJson } from './mutate.js';
import { tree } from './tree.js';

type Main = typeof import('../../src/cli/main.js').main;
type Commands = typeof import('../../src/options/commands.js').COMMANDS;

/** After this time, a command is asked to stop, as by Ctrl-C. */
const PATIENCE_MS = 4000;
/** Then it must have ended. */
const STATUS = new Set([0, 2, 130]);

const HOSTILE = [
  '',
  ' ',
  '-1',
  '0',
  '1',
  '2',
  '0.5',
  '1e-300',
  '1e308',
  'NaN',
  '9'.repeat(30),
  '0x10',
  'true',
  'sparse',
  'pq',
  '1,2,3',
  ',',
  '\x1b]52;c;x\x07',
  '\u202eabc',
  '../beside/theirs.txt',
  'data.csv',
  'no/such/file',
  '-',
  '--',
  '__proto__',
  'x'.repeat(5000),
  'a\nb',
];

export interface Doors {
  readonly main: Main;
  readonly commands: Commands;
}

/** Kinds of attempts, with samples made in `folder`. */
export async function commandKinds({ main, commands }: Doors, folder: string): Promise<Kind[]> {
  const table = Array.from({ length: 300 }, (_, r) => `${(r + Math.floor(r / 7)) % 31},${(r * 7) % 23}\n`);
  const samples = join(folder, 'command-samples');
  mkdirSync(samples, { recursive: true });
  const data = join(samples, 'data.csv');
  writeFileSync(data, table.join(''));
  const made = join(samples, 'report');
  const quick = ['-k', '2', '--iterations', '4', '--draws', '0', '--baselines', 'none', '--no-ranker'];
  const results = join(made, 'results.json');
  // One process makes the samples, the others find them.
  if (!existsSync(results)) {
    const args = ['node', 'graphex', 'study', data, ...quick, '-o', made, '--force'];
    const { status, printed } = await silently(() => main(args), 300_000);
    if (status !== 0) throw new Error(`the sample study ended with ${status}: ${printed}`);
  }
  const receipt = JSON.parse(readFileSync(results, 'utf8')) as Json;
  const flags = Object.fromEntries(
    Object.entries(commands).map(([name, parts]) => [
      name,
      Object.values(parts).flatMap((part) => Object.keys(part)),
    ]),
  );

  /** A folder with its own outputs, and files that must not change. */
  const world = (place: string) => {
    rmSync(place, { recursive: true, force: true });
    mkdirSync(join(place, 'work'), { recursive: true });
    mkdirSync(join(place, 'beside'));
    writeFileSync(join(place, 'beside', 'theirs.txt'), 'theirs');
    writeFileSync(join(place, 'work', 'data.csv'), table.join(''));
    symlinkSync(join(place, 'beside'), join(place, 'work', 'link'));
  };
  const run = async (place: string, args: readonly string[]) => {
    const before = tree(place);
    const { status, printed } = await inFolder(join(place, 'work'), () =>
      silently(() => main(['node', 'graphex', ...args])),
    );
    const said = JSON.stringify(args).slice(0, 500);
    if (!STATUS.has(status)) throw new Error(`status ${status} of ${said}: ${printed.slice(0, 2000)}`);
    if (/[^\P{Cc}\n\r\t]/u.test(printed)) throw new Error(`control characters printed by ${said}`);
    const after = tree(place);
    for (const [name, what] of Object.entries(before)) {
      if (after[name] !== what) throw new Error(`${name} was changed by ${said}`);
    }
    for (const name of Object.keys(after)) {
      if (!(name in before) && !name.startsWith(join('work', 'out')))
        throw new Error(`${name} was made by ${said}`);
    }
  };

  return [
    {
      name: 'command line',
      prepare(dice, folder_) {
        const place = join(folder_, 'world');
        world(place);
        const name = pick(Object.keys(flags), dice);
        const args = [name, ...(dice.below(8) === 0 ? [] : ['data.csv'])];
        if (dice.below(10) > 0) args.push('-o', name === 'simulate' ? 'out.csv' : 'out');
        // These flags would write or listen elsewhere; other tests cover them.
        const names = flags[name].filter((flag) => !/^(output|rejects|port|host)$/.test(flag));
        for (let n = dice.below(5); n > 0; n--) {
          const flag = `--${pick(names, dice).replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`;
          args.push(flag);
          if (dice.below(3) > 0) args.push(pick(HOSTILE, dice));
        }
        return () => run(place, args);
      },
    },
    {
      name: 'receipt',
      prepare(dice, folder_) {
        const place = join(folder_, 'world');
        world(place);
        writeFileSync(join(place, 'work', 'results.json'), JSON.stringify(mutateJson(receipt, dice)));
        return () =>
          run(place, ['study', 'data.csv', '--from', 'results.json', '-o', 'out', '--threads', '1']);
      },
    },
  ];
}

/** What is printed is kept, and a command that takes long is stopped. */
async function silently(
  work: () => Promise<number>,
  patience = PATIENCE_MS,
): Promise<{ status: number; printed: string }> {
  const { stdout, stderr } = process;
  const [out, err] = [stdout.write, stderr.write];
  let printed = '';
  const keep = ((text: string | Uint8Array, ...rest: unknown[]) => {
    printed += String(text);
    for (const then of rest) if (typeof then === 'function') then();
    return true;
  }) as typeof stdout.write;
  stdout.write = keep;
  stderr.write = keep;
  // Keeps a listener while the command has none of its own.
  const ignore = () => {};
  process.on('SIGINT', ignore);
  const impatient = setTimeout(() => process.kill(process.pid, 'SIGINT'), patience);
  try {
    return { status: await work(), printed };
  } finally {
    clearTimeout(impatient);
    process.off('SIGINT', ignore);
    stdout.write = out;
    stderr.write = err;
  }
}

async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const home = process.cwd();
  process.chdir(folder);
  try {
    return await work();
  } finally {
    process.chdir(home);
  }
}

function pick<T>(list: readonly T[], dice: Dice): T {
  return list[dice.below(list.length)];
}
