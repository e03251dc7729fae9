// The command line: loads the command that was asked for, runs it and turns errors into an exit status:
// 0 done, 1 a bug, 2 bad usage or bad input, 128 + n stopped by signal n (130 for Ctrl-C).

import { Command, CommanderError } from 'commander';
import type { CommandName } from '../options/commands.js';
import { lines, oneLine } from '../text/untrusted.js';
import { VERSION } from '../version.js';
import { type HelpLevel, refuseMissingValues } from './flags.js';
import { stoppedStatus } from './signals.js';
import { writeOut } from './stdout.js';

/**
 * Runs the command in `argv` (as in process.argv) and resolves to the exit status. `onLoaded` is called when its modules
 * are loaded: from then on the command handles signals itself.
 */
export async function main(argv: readonly string[], onLoaded: () => void = () => {}): Promise<number> {
  // `graphex … | head` closes stdout early, which is not a failure. A closed stderr only loses the progress: the work
  // continues.
  const onStreamError = (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
  };
  const ignore = () => {};
  process.stdout.on('error', onStreamError);
  process.stderr.on('error', ignore);
  try {
    // Help and version are written here: commander does not report a failed write.
    let said = '';
    const level = argv.includes(HELP_ALL) ? 'all' : 'common';
    const program = await createProgram(
      argv[2],
      (text) => {
        said += text;
      },
      level,
    );
    onLoaded();
    const command = program.commands.find((one) => one.name() === argv[2]);
    if (command) refuseMissingValues(command, argv.slice(3));
    const words = argv.map((word) => (word === HELP_ALL ? '--help' : word));
    const ended = await program.parseAsync(words).then(
      () => undefined,
      (error) => ({ error }),
    );
    if (said !== '') await writeOut(said);
    return ended ? reportError(ended.error) : 0;
  } catch (error) {
    return reportError(error);
  } finally {
    process.stdout.off('error', onStreamError);
    process.stderr.off('error', ignore);
  }
}

const HELP_ALL = '--help-all';

type Loader = () => Promise<{ register(program: Command, level: HelpLevel): void }>;

/** In the order of use, as the help lists them. */
const LOADERS: Readonly<Record<CommandName, Loader>> = {
  simulate: () => import('./commands/simulate.js'),
  check: () => import('./commands/check.js'),
  forecast: () => import('./commands/forecast.js'),
  split: () => import('./commands/split.js'),
  audit: () => import('./commands/audit.js'),
  partition: () => import('./commands/partition.js'),
  fit: () => import('./commands/fit.js'),
  merge: () => import('./commands/merge.js'),
  evaluate: () => import('./commands/evaluate.js'),
  recommend: () => import('./commands/recommend.js'),
  search: () => import('./commands/search.js'),
  load: () => import('./commands/load.js'),
  similar: () => import('./commands/similar.js'),
  features: () => import('./commands/features.js'),
  serve: () => import('./commands/serve.js'),
  study: () => import('./commands/study.js'),
};

/** The program with the command that is asked for; for help or an unknown name, with all commands. */
export async function createProgram(
  asked?: string,
  onHelp: (text: string) => void = (text) => process.stdout.write(text),
  level: HelpLevel = 'common',
): Promise<Command> {
  const program = new Command('graphex')
    .description(
      'Is a relational data set sparse? Split it without bias, fit it, predict, recommend, report.',
    )
    .version(VERSION)
    .exitOverride()
    // Messages repeat what was typed.
    .configureOutput({ writeOut: onHelp, writeErr: (text) => process.stderr.write(lines(text)) })
    .showHelpAfterError('(npx graphex --help lists the commands)');
  const loaded = await Promise.all(loadersFor(asked).map((load) => load()));
  for (const { register } of loaded) register(program, level);
  return program;
}

function loadersFor(asked: string | undefined): Loader[] {
  if (asked === '--version' || asked === '-V') return [];
  if (asked !== undefined && Object.hasOwn(LOADERS, asked)) return [LOADERS[asked as CommandName]];
  return Object.values(LOADERS);
}

/** Prints the error on stderr and returns the exit status. */
export function reportError(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2; // commander has printed it
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  if (name === 'AbortError') {
    process.stderr.write(`interrupted: ${oneLine(message)}\n`);
    return stoppedStatus();
  }
  const said = name === 'InputError' || name === 'FitError' ? message : describeSystemError(error);
  if (said !== undefined) {
    process.stderr.write(`error: ${oneLine(said)}\n`);
    return 2;
  }
  process.stderr.write(
    `${lines(stack ?? message)}\n\nThis is a bug in graphex ${VERSION}: please report it with the command that led here.\n`,
  );
  return 1;
}

const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  EACCES: 'no permission; check the owner and mode of the file and its folder',
  EPERM: 'not permitted; check the owner and mode of the file and its folder',
  EROFS: 'the file system is read-only; choose another place',
  ENOENT: 'no such file or folder; check the path',
  ENOTDIR: 'a part of the path is a file, not a folder; check the path',
  EISDIR: 'that is a folder, not a file; name a file in it',
  EEXIST: 'it already exists; choose another name or remove it',
  ENOTEMPTY: 'the folder is not empty; choose another or empty it',
  ENOSPC: 'the disk is full; make room or choose another place',
  EDQUOT: 'the disk quota is used up; make room or choose another place',
  EFBIG: 'the file would be larger than the file system or a limit allows; choose another place',
  EMFILE: 'too many open files; raise the limit with ulimit -n',
  ENAMETOOLONG: 'the name is too long; choose a shorter one',
};

const OUT_OF_MEMORY =
  /allocation failed|could not allocate|out of memory|invalid (typed array|array buffer|string|array) length|maximum (memory )?size exceeded/i;

/** A sentence for an error of the operating system or of memory; undefined for anything else. */
function describeSystemError(error: unknown): string | undefined {
  const { name, code, path, syscall, message } = error as NodeJS.ErrnoException;
  const reason = code === undefined ? undefined : SYSTEM_ERRORS[code];
  if (reason !== undefined)
    return `${path ?? (syscall === 'write' ? 'writing the result' : message)}: ${reason}`;
  // By name: an error from a worker thread has lost its class.
  if (name === 'RangeError' && OUT_OF_MEMORY.test(message)) {
    return `not enough memory (${message}); close other programs, use fewer --threads, or sample the data first`;
  }
  return undefined;
}
