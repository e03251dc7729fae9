// What every command shares: options and help, signals, progress, one result on stdout.

import { type Command, Option } from 'commander';
import { InputError, throwIfAborted } from '../errors.js';
import { withDefaults } from '../options/check-options.js';
import { COMMANDS, type CommandName } from '../options/commands.js';
import type { Declaration, OptionsOf } from '../options/declare.js';
import { OptionError, type WriteOption, withArgument } from '../options/error.js';
import { flagName } from '../options/option-list.js';
import { COMMON, COMMON_GROUP } from '../options/shared.js';
import type { Progress } from '../progress.js';
import { lines, oneLine, safeJson } from '../text/untrusted.js';
import { addFlags, type HelpLevel, typedOptions } from './flags.js';
import { createProgressView } from './progress.js';
import { refuseRanks } from './ranks.js';
import { listenForSignals } from './signals.js';
import { writeOut } from './stdout.js';

export interface CommandContext {
  readonly seed: number;
  /** Undefined means all cores. */
  readonly threads: number | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
  /** Fires on Ctrl-C, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  /** Threads, signal and progress together, as the library takes them. */
  readonly task: Pick<CommandContext, 'threads' | 'signal' | 'onProgress'>;
  /** An error about an option, with its flag instead of its name. */
  readonly inFlags: (error: unknown) => unknown;
  /** A line on stderr, unless --quiet. */
  readonly warn: (message: string) => void;
  /** A line on stderr that is not a warning. */
  readonly note: (message: string) => void;
}

/** What the work of a command returns: the document of --json, and the text for people. */
export interface CommandOutput {
  readonly json: unknown;
  readonly text: string;
}

const EXAMPLES = new WeakMap<Command, readonly string[]>();

/** The examples at the end of the help of a command. */
export function examplesOf(command: Command): readonly string[] {
  return EXAMPLES.get(command) ?? [];
}

/** The typed options of a command, by the parts of its declaration. */
export type TypedOptions<N extends CommandName> = {
  readonly [P in keyof (typeof COMMANDS)[N]]: OptionsOf<(typeof COMMANDS)[N][P] & Declaration>;
};

interface CommandHelp {
  readonly description: string;
  /** The meanings of its arguments, by their names: <required>, [optional], <several...>. */
  readonly takes?: Readonly<Record<string, string>>;
  readonly examples: readonly string[];
  readonly more?: string;
}

/** A command by its help and its work, which gets the typed options and arguments. The result adds it to a program. */
export function declareCommand<N extends CommandName, Given extends readonly unknown[]>(
  name: N,
  { description, takes = {}, examples, more }: CommandHelp,
  work: (
    context: CommandContext,
    typed: TypedOptions<N>,
    ...given: Given
  ) => Promise<CommandOutput | undefined>,
): (program: Command, level: HelpLevel) => void {
  return (program, level) => {
    const command = program.command(name).description(description);
    for (const [argument, meaning] of Object.entries(takes)) command.argument(argument, meaning);
    addOptions(command, level);
    EXAMPLES.set(command, examples);
    const heading = examples.length === 1 ? 'Example' : 'Examples';
    const shown = examples.map((example) => `  ${example}`).join('\n');
    command.addHelpText('after', `\n${heading}:\n${shown}\n  (graphex stands for npx graphex)`);
    if (more !== undefined) command.addHelpText('after', more);
    command.action((...given) =>
      runCommand(command, (context) => {
        const typed = Object.entries(partsOf(command)).map(([part, declared]) => [
          part,
          typedOptions(command, declared),
        ]);
        return work(context, Object.fromEntries(typed), ...(given as unknown as Given));
      }),
    );
  };
}

/** Adds the declared flags of a command, --help, --help-all and --version. */
function addOptions(command: Command, level: HelpLevel): void {
  for (const [name, declared] of Object.entries(partsOf(command))) {
    // --seed is also an option of the library: it is shown once, among the options of every command.
    addFlags(command, declared, level, name === 'common' ? {} : COMMON);
  }
  const every = (option: Option) => option.helpGroup(`${COMMON_GROUP}:`);
  command.addHelpOption(every(new Option('-h, --help', 'show the options that most people need')));
  command.addOption(every(new Option('--help-all', 'show all options')));
  const version = command.parent?.version();
  if (version) command.version(version, '-V, --version', 'show the version');
  for (const option of command.options)
    if (option.long === '--version') every(option).hideHelp(level === 'common');
  command.showHelpAfterError(`(npx graphex ${command.name()} --help shows the options and an example)`);
}

function partsOf(command: Command): Readonly<Record<string, Declaration>> {
  return COMMANDS[command.name() as CommandName];
}

function inFlags(command: Command, error: unknown): unknown {
  if (!(error instanceof OptionError)) return error;
  const parts = Object.values(partsOf(command));
  const write: WriteOption = (path, argument) => {
    const flags = parts.map((declared) => flagName(declared, path, typedOptions(command, declared)));
    return withArgument(flags.find((name) => name !== undefined) ?? path, argument);
  };
  return new InputError(error.say(write), { cause: error });
}

/** Runs the work of a command and prints its result on stdout. `main` turns errors into an exit status. */
async function runCommand(
  command: Command,
  work: (context: CommandContext) => Promise<CommandOutput | undefined>,
): Promise<void> {
  const values = withDefaults(COMMON, typedOptions(command, COMMON));
  const view = createProgressView(process.stderr, { quiet: values.quiet });
  const listening = listenForSignals();
  try {
    await refuseRanks(command.name());
    const task = { threads: values.threads, signal: listening.signal, onProgress: view.report };
    const output = await work({
      ...task,
      task,
      inFlags: (error) => inFlags(command, error),
      seed: values.seed,
      json: values.json === true,
      quiet: values.quiet === true,
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

/** Prints the document or the text. A command that keeps running prints by itself and returns nothing. */
export function print({ json, text }: CommandOutput, asJson: boolean): Promise<void> {
  return writeOut(asJson ? `${toJson(json)}\n` : endWithNewline(lines(text)));
}

/** Call it after a long computation, before results are written: it handles a Ctrl-C that came meanwhile. */
export async function pause(signal: AbortSignal): Promise<void> {
  // Wait for two turns of the event loop: the first may have checked for signals before this one arrived.
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  throwIfAborted(signal);
}

/**
 * Typed arrays become plain arrays. The text is indented on a terminal and one line otherwise. Characters that a
 * terminal would interpret are escaped, which does not change the document.
 */
function toJson(value: unknown): string {
  return safeJson(
    JSON.stringify(
      value,
      (_key, part) => (ArrayBuffer.isView(part) ? Array.from(part as unknown as ArrayLike<number>) : part),
      process.stdout.isTTY ? 2 : 0,
    ),
  );
}

function endWithNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
