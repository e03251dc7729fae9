// Thousands of damaged files of every kind that graphex reads, and of wrong command lines, receipts and library options. Each must
// succeed or be refused with a message, soon and in little memory. They run in a separate process, so that a crash or a hang is
// counted and the rest continues.
//   npm run fuzz -- [--minutes 60 | --inputs 1000 (per kind)] [--seed 1] [--kind NAME]
// Exit status 1 if there was a fault; the inputs that caused it are kept.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readSideInfo } from '../src/attributes/side-info.js';
import { main } from '../src/cli/main.js';
import * as library from '../src/index.js';
import { sideTable } from '../src/ingest/side-table.js';
import { randomStream } from '../src/math/random.js';
import { EVALUATE, EVALUATE_TABLES } from '../src/options/commands/evaluate.js';
import { METHODS } from '../src/options/commands/fit.js';
import { COMMANDS } from '../src/options/commands.js';
import * as own from '../src/options/library.js';
import { createItemSearch } from '../src/predict/search-index.js';
import { attempt, fuzzKinds, type Kind, type Outcome } from '../test/faults/fuzz.js';
import { commandKinds } from '../test/faults/fuzz-commands.js';
import { type Declared, libraryKinds } from '../test/faults/fuzz-library.js';
import { requestKind } from '../test/faults/fuzz-requests.js';

const HANG_SECONDS = 120;
/** Beyond this, for inputs of at most some 200 kB, memory is not bounded by the input. */
const MOST_MEGABYTES = 1500;

interface Tally {
  inputs: number;
  read: number;
  refused: number;
  slowest: number;
  megabytes: number;
  readonly found: string[];
}

/** What a reading process reports about one input. */
interface Report {
  readonly input: number;
  readonly outcome: Outcome;
  readonly seconds: number;
  readonly megabytes: number;
}

const DECLARED: Declared = {
  methods: METHODS,
  read: COMMANDS.check.read,
  check: COMMANDS.check.options,
  split: { ...COMMANDS.split.options, ...own.SPLIT_TIMES },
  simulate: COMMANDS.simulate.options,
  evaluate: EVALUATE,
  tables: EVALUATE_TABLES,
  lists: own.RECOMMEND_LISTS,
  forecast: COMMANDS.forecast.options,
  audit: COMMANDS.audit.options,
  foldIn: own.FOLD_IN,
  thin: own.THIN,
  levels: own.LEVELS,
  sizes: own.ESTIMATE_SIZES,
  baseline: own.FIT_BASELINE,
  describe: COMMANDS.features.options,
  similar: COMMANDS.similar.options,
  storage: own.STORAGE,
};

if (process.argv[2] === 'child') await child(process.argv.slice(3));
else {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      inputs: { type: 'string' },
      seed: { type: 'string', default: '1' },
      kind: { type: 'string' },
    },
  });
  const until =
    values.minutes === undefined ? undefined : performance.now() + 60_000 * Number(values.minutes);
  await parent(Number(values.inputs ?? (until ? 25 : 1000)), Number(values.seed), values.kind, until);
}

/** Files, commands and calls of the library together, with samples made in `folder`. */
async function allKinds(folder: string): Promise<Kind[]> {
  return [
    ...(await fuzzKinds(library, folder)),
    ...(await commandKinds({ main, commands: COMMANDS }, folder)),
    ...(await libraryKinds(library, DECLARED, { readSideInfo, sideTable, createItemSearch }, folder)),
    await requestKind(library, folder),
  ];
}

/** `inputs` of each kind. With a time limit it repeats, each round with the next inputs. */
async function parent(
  inputs: number,
  seed: number,
  only: string | undefined,
  until: number | undefined,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'graphex-fuzz-'));
  const names = (await allKinds(folder)).map((kind) => kind.name);
  const kept = join(tmpdir(), 'graphex-fuzz-found');
  const tallies = names.map(
    (): Tally => ({ inputs: 0, read: 0, refused: 0, slowest: 0, megabytes: 0, found: [] }),
  );
  const late = () => until !== undefined && performance.now() > until;
  for (let round = 0; round === 0 || (until !== undefined && !late()); round++) {
    for (const [k, name] of names.entries()) {
      if ((only !== undefined && only !== name) || late()) continue;
      const to = (round + 1) * inputs;
      for (let from = round * inputs; from < to; ) {
        from = await oneProcess(k, from, to, seed, folder, kept, tallies[k]);
      }
      tallies[k].inputs += inputs;
    }
  }
  write(`kind: inputs, read, refused, most processor time, peak memory, found (seed ${seed})`);
  for (const [k, name] of names.entries()) {
    const { inputs: tried, read, refused, slowest, megabytes, found } = tallies[k];
    if (tried === 0) continue;
    write(
      `${name}: ${tried}, ${read}, ${refused}, ${slowest.toFixed(2)} s, ${megabytes} MB, ${found.length}`,
    );
    for (const line of found) write(`  ${line.replaceAll('\n', '\n    ')}`);
  }
  rmSync(folder, { recursive: true, force: true });
  const found = tallies.reduce((sum, tally) => sum + tally.found.length, 0);
  if (found > 0) {
    write(`${found} found; the inputs are in ${kept}`);
    process.exitCode = 1;
  }
}

/** Starts a reading process at input `from` and follows it; returns the input to continue with. */
async function oneProcess(
  kind: number,
  from: number,
  to: number,
  seed: number,
  folder: string,
  kept: string,
  tally: Tally,
): Promise<number> {
  const place = join(folder, 'input');
  const args = [fileURLToPath(import.meta.url), 'child', folder, kept, kind, from, to, seed].map(String);
  const process_ = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(process_, 'exit');
  let next = from;
  let problem: string | undefined;
  let errors = '';
  process_.stderr.on('data', (text) => (errors = `${errors}${text}`.slice(-2000)));
  const watch = watchdog(process_, () => (problem = `no answer in ${HANG_SECONDS} s`));
  const keep = (what: string) => {
    tally.found.push(`input ${next}: ${what}`);
    keepInput(place, kept, kind, seed, next);
  };
  for await (const line of createInterface({ input: process_.stdout })) {
    watch.reset();
    const report = JSON.parse(line) as Report;
    next = report.input;
    tally.slowest = Math.max(tally.slowest, report.seconds);
    tally.megabytes = Math.max(tally.megabytes, report.megabytes);
    if (report.outcome === 'read') tally.read++;
    else if (report.outcome === 'refused') tally.refused++;
    else tally.found.push(`input ${next}: ${report.outcome}`);
    if (report.megabytes > MOST_MEGABYTES) {
      keep(`${report.megabytes} MB of memory`);
      process_.kill('SIGKILL');
    }
    next++;
  }
  watch.stop();
  const [code, signal] = await ended;
  const status = code ?? signal;
  if (next < to && status !== 'SIGKILL') problem ??= `the process ended with ${status}: ${errors}`;
  if (problem !== undefined) {
    keep(problem);
    next++;
  }
  return next;
}

function keepInput(place: string, kept: string, kind: number, seed: number, input: number): void {
  if (existsSync(place)) cpSync(place, join(kept, `${kind}-${seed}-${input}`), { recursive: true });
}

function watchdog(process_: ChildProcess, onHang: () => void): { reset(): void; stop(): void } {
  const bite = () => {
    onHang();
    process_.kill('SIGKILL');
  };
  let timer = setTimeout(bite, 1000 * HANG_SECONDS);
  return {
    reset() {
      clearTimeout(timer);
      timer = setTimeout(bite, 1000 * HANG_SECONDS);
    },
    stop: () => clearTimeout(timer),
  };
}

async function child([folder, kept, kind, from, to, seed]: readonly string[]): Promise<void> {
  const kinds = await allKinds(folder!);
  const place = join(folder!, 'input');
  for (let input = Number(from); input < Number(to); input++) {
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place, { recursive: true });
    const run = kinds[Number(kind)].prepare(randomStream(Number(seed), Number(kind), input), place);
    // CPU time: other work on the machine does not count.
    const before = process.cpuUsage();
    const outcome = await attempt(run);
    const { user, system } = process.cpuUsage(before);
    if (outcome.startsWith('bug')) keepInput(place, kept!, Number(kind), Number(seed), input);
    const seconds = (user + system) / 1e6;
    const megabytes = Math.round(process.resourceUsage().maxRSS / 1024);
    write(JSON.stringify({ input, outcome, seconds, megabytes } satisfies Report));
  }
  await kinds[Number(kind)].close?.();
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}
