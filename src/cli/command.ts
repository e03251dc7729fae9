// What every command shares: its options, its signal, its progress, its one result on stdout, its exit status.

import type { Command } from 'commander';
import { InputError, throwIfAborted } from '../errors.js';
import { withDefaults } from '../options/check-options.js';
import { COMMANDS, type CommandName } from '../options/commands.js';
import type { Declaration } from '../options/declare.js';
import { OptionError, type WriteOption, withArgument } from '../options/error.js';
import { flagName } from '../options/option-list.js';
import { COMMON } from '../options/shared.js';
import type { Progress } from '../progress.js';
import { lines, oneLine, safeJson } from '../text/untrusted.js';
import { addFlags, typedOptions } from './flags.js';
import { createProgressView } from './progress.js';
import { refuseRanks } from './ranks.js';
import { listenForSignals } from './signals.js';
import { writeOut } from './stdout.js';

/** What a command's work gets. */
export interface CommandContext {
  readonly seed: number;
  /** undefined: all cores. */
  readonly threads: number | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
  /** Fires on Ctrl-C, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  /** A line on stderr, unless --quiet. */
  readonly warn: (message: string) => void;
  /** The same without a warning. */
  readonly note: (message: string) => void;
}

/** What a command's work returns: the document of --json and the text for people. */
export interface CommandOutput {
  readonly json: unknown;
  readonly text: string;
}

const EXAMPLES = new WeakMap<Command, readonly string[]>();

/** The examples at the end of a command's help. */
export function examplesOf(command: Command): readonly string[] {
  return EXAMPLES.get(command) ?? [];
}

/** The flags of a command as they are declared, --version, and a help text that ends with examples. */
export function addOptions(command: Command, examples: readonly string[]): Command {
  const parts = partsOf(command);
  for (const [name, declared] of Object.entries(parts)) {
    // --seed goes to the library and is everyone's: it is shown once, among what is everyone's.
    addFlags(command, declared, name === 'common' ? {} : COMMON);
  }
  command.showHelpAfterError(`(graphex ${command.name()} --help shows the options and an example)`);
  const program = command.parent;
  const version = program?.version();
  if (version) command.version(version);
  EXAMPLES.set(command, examples);
  const heading = examples.length === 1 ? 'Example' : 'Examples';
  command.addHelpText('after', `\n${heading}:\n${examples.map((e) => `  ${e}`).join('\n')}`);
  return command;
}

function partsOf(command: Command): Readonly<Record<string, Declaration>> {
  return COMMANDS[command.name() as CommandName];
}

/** A wrong option as the person at the terminal knows it: by its flag. */
export function inFlags(command: Command, error: unknown): unknown {
  if (!(error instanceof OptionError)) return error;
  const parts = Object.values(partsOf(command));
  const write: WriteOption = (path, argument) => {
    const flags = parts.map((declared) => flagName(declared, path, typedOptions(command, declared)));
    return withArgument(flags.find((name) => name !== undefined) ?? path, argument);
  };
  return new InputError(error.say(write), { cause: error });
}

/**
 * Runs a command's work: signal, progress, and exactly one result on stdout. Errors go up to `main`, which turns them
 * into an exit status.
 */
export async function runCommand(
  command: Command,
  work: (context: CommandContext) => Promise<CommandOutput | undefined>,
): Promise<void> {
  const values = withDefaults(COMMON, typedOptions(command, COMMON));
  const view = createProgressView(process.stderr, { quiet: values.quiet });
  const listening = listenForSignals();
  try {
    await refuseRanks(command.name());
    const output = await work({
      seed: values.seed,
      threads: values.threads,
      json: values.json === true,
      quiet: values.quiet === true,
      signal: listening.signal,
      onProgress: view.report,
      warn: (message) => view.note(`warning: ${oneLine(message)}`),
      note: (message) => view.note(message),
    });
    view.clear();
    if (output) await print(output, values.json === true);
  } catch (error) {
    throw inFlags(command, error);
  } finally {
    view.clear();
    listening.stop();
  }
}

/** The document or the text, on stdout. A command that goes on afterwards prints by itself and returns nothing. */
export function print({ json, text }: CommandOutput, asJson: boolean): Promise<void> {
  return writeOut(asJson ? `${toJson(json)}\n` : endWithNewline(lines(text)));
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
