// What every command shares: its options, its signal, its progress, its one result on stdout, its exit status.

import { type Command, Option } from 'commander';
import { InputError, throwIfAborted } from '../errors.js';
import type { ReadOptions } from '../ingest/options.js';
import type { Progress, TaskOptions } from '../progress.js';
import { type AskedNames, sideNames } from '../text/sides.js';
import { lines, oneLine, safeJson } from '../text/untrusted.js';
import { createProgressView } from './progress.js';

/** What a command's work gets. */
export interface CommandContext {
  readonly seed: number;
  /** undefined: all cores. */
  readonly threads: number | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
  /** Fires on Ctrl-C and on SIGTERM. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  /** A line on stderr, unless --quiet. */
  readonly warn: (message: string) => void;
}

/** What a command's work returns: the document of --json and the text for people. */
export interface CommandOutput {
  readonly json: unknown;
  readonly text: string;
}

interface CommonValues {
  readonly json?: boolean;
  readonly seed: number;
  readonly threads?: number;
  readonly quiet?: boolean;
}

/** --json, --seed, --threads, --quiet, --version, and a help text that ends with examples. */
export function addCommonOptions(command: Command, examples: readonly string[]): Command {
  command
    .option('--json', 'print one JSON document on stdout and nothing else')
    .option('--seed <n>', 'seed of every random draw', wholeNumber('--seed', { min: 0, max: 2 ** 53 - 1 }), 1)
    .option(
      '--threads <n>',
      'worker threads (default: all cores); never changes a result',
      wholeNumber('--threads', { min: 1, max: 1024 }),
    )
    .option('--quiet', 'no progress and no warnings on stderr');
  command.showHelpAfterError(`(graphex ${command.name()} --help shows the options and an example)`);
  const program = command.parent;
  const version = program?.version();
  if (version) command.version(version);
  const heading = examples.length === 1 ? 'Example' : 'Examples';
  command.addHelpText('after', `\n${heading}:\n${examples.map((e) => `  ${e}`).join('\n')}`);
  return command;
}

/** The heading of addDataOptions in the help. */
export const DATA_GROUP = 'Data:';

/** The options of every command that reads DATA. */
export function addDataOptions(command: Command): Command {
  const data = (flags: string, description: string) => new Option(flags, description).helpGroup(DATA_GROUP);
  return command
    .addOption(data('--users <col>', 'column of the users: header name or 1-based number (default: 1)'))
    .addOption(data('--items <col>', 'column of the items (default: 2)'))
    .addOption(data('--count <col>', 'column of the counts (default: none)'))
    .addOption(data('--sep <str>', 'separator (default: guessed)'))
    .addOption(data('--header', 'the first row is a header (default: guessed)'))
    .addOption(data('--no-header', 'the first row is data').default(undefined))
    .addOption(data('--simple', 'an edge or none: counts are ignored (default)').conflicts('multi'))
    .addOption(data('--multi', 'keep counts').conflicts('simple'))
    .addOption(data('--rejects <file>', 'set bad rows aside in FILE and go on'))
    .addOption(
      data(
        '--common-words <share>',
        'text: leave out words in more documents than this (default: 0.5)',
      ).argParser(decimalNumber('--common-words', { above: 0, max: 1 })),
    )
    .addOption(
      data(
        '--names <users,items>',
        'what to call the two sides, as in customers,products (default: by the header)',
      ).argParser(namePair),
    );
}

/** The values of addDataOptions, for readGraph; keys the user left out are absent. */
export function dataOptions(command: Command): Omit<ReadOptions, keyof TaskOptions> {
  const { users, items, count, sep, header, rejects, multi, commonWords, names } = command.opts();
  return { users, items, count, sep, header, rejects, commonWords, names, multigraph: multi === true };
}

/** Two words, refused before any work where they are none. */
function namePair(text: string): AskedNames {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length !== 2) {
    throw new InputError(
      `--names ${text}: expected two words with a comma between, as in customers,products`,
    );
  }
  const names = { users: parts[0], items: parts[1] };
  sideNames(names);
  return names;
}

/** How long an interrupted command may take to put its things in order. */
const GRACE_MS = 60_000;

/**
 * Runs a command's work: signal, progress, and exactly one result on stdout. Errors go up to `main`, which turns them
 * into an exit status.
 */
export async function runCommand(
  command: Command,
  work: (context: CommandContext) => Promise<CommandOutput>,
): Promise<void> {
  const values = command.opts<CommonValues>();
  const view = createProgressView(process.stderr, { quiet: values.quiet });
  const abort = new AbortController();
  let asked = false;
  const stop = () => {
    // A second Ctrl-C does not wait for the work to notice the first.
    if (asked) process.exit(130);
    asked = true;
    abort.abort();
    // Work that hangs in the operating system never notices.
    setTimeout(() => process.exit(130), GRACE_MS).unref();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  try {
    const output = await work({
      seed: values.seed,
      threads: values.threads,
      json: values.json === true,
      quiet: values.quiet === true,
      signal: abort.signal,
      onProgress: view.report,
      warn: (message) => view.note(`warning: ${oneLine(message)}`),
    });
    view.clear();
    await writeOut(values.json ? `${toJson(output.json)}\n` : endWithNewline(lines(output.text)));
  } finally {
    view.clear();
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  }
}

/** Between a long calculation and the writing of its results: lets a Ctrl-C that came meanwhile be heard, and obeys it. */
export async function pause(signal: AbortSignal): Promise<void> {
  // Two turns of the event loop: the first may have looked for signals before this one came.
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  throwIfAborted(signal);
}

/**
 * Typed arrays become plain ones; indented for a person at a terminal, one line for a program. Characters that a terminal
 * could obey are escaped, which is the same document.
 */
export function toJson(value: unknown, indent = process.stdout.isTTY ? 2 : 0): string {
  return safeJson(
    JSON.stringify(
      value,
      (_key, part) => (ArrayBuffer.isView(part) ? Array.from(part as unknown as ArrayLike<number>) : part),
      indent,
    ),
  );
}

function endWithNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** Resolves once the reader has it all, so that ending the process cuts nothing off. A reader that left is no error. */
function writeOut(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (!error || (error as NodeJS.ErrnoException).code === 'EPIPE') resolve();
      else reject(error);
    });
  });
}

export interface Range {
  readonly min?: number;
  readonly max?: number;
  /** Exclusive bounds. */
  readonly above?: number;
  readonly below?: number;
}

/** An option parser for a number in a range; the message names the option and the value. */
export function decimalNumber(option: string, range: Range = {}): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (!Number.isFinite(value) || !inRange(value, range)) {
      throw new InputError(`${option} ${text}: expected a number${describeRange(range)}`);
    }
    return value;
  };
}

/** An option parser for a whole number in a range. */
export function wholeNumber(option: string, range: Range = {}): (text: string) => number {
  return (text) => {
    const value = /^[+-]?\d+(e\d+)?$/i.test(text.trim()) ? Number(text) : Number.NaN;
    if (!Number.isSafeInteger(value) || !inRange(value, range)) {
      throw new InputError(`${option} ${text}: expected a whole number${describeRange(range)}`);
    }
    return value;
  };
}

function inRange(value: number, { min, max, above, below }: Range): boolean {
  return (
    (min === undefined || value >= min) &&
    (max === undefined || value <= max) &&
    (above === undefined || value > above) &&
    (below === undefined || value < below)
  );
}

function describeRange({ min, max, above, below }: Range): string {
  const parts: string[] = [];
  if (min !== undefined) parts.push(`at least ${min}`);
  if (above !== undefined) parts.push(`above ${above}`);
  if (max !== undefined && max < Number.MAX_SAFE_INTEGER) parts.push(`at most ${max}`);
  if (below !== undefined) parts.push(`below ${below}`);
  return parts.length ? `, ${parts.join(' and ')}` : '';
}
