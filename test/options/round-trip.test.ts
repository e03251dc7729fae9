import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addFlags, typedOptions } from '../../src/cli/flags.js';
import { createProgram } from '../../src/cli/main.js';
import { toArguments } from '../../src/options/arguments.js';
import { checkOptions } from '../../src/options/check-options.js';
import { STUDY } from '../../src/options/commands/study.js';
import { COMMANDS } from '../../src/options/commands.js';
import type { Declaration } from '../../src/options/declare.js';
import { OptionError } from '../../src/options/error.js';
import { flagName, type ListedOption, listOptions, putAt, valueAt } from '../../src/options/option-list.js';
import { studySettings } from '../../src/study/options.js';
import { checkReceipt } from '../../src/study/receipt.js';
import { RESULTS_VERSION } from '../../src/study/results.js';

// All forms of an option follow from its declaration, so one round trip tests all: option → receipt → command line → option.

type Plain = ListedOption['option'];

/** A value that is never the default. */
function otherValue(option: Plain): unknown {
  switch (option.kind) {
    case 'whole': {
      const usual = typeof option.default === 'number' ? option.default : (option.min ?? 0);
      return usual + 1 <= (option.max ?? Infinity) ? usual + 1 : usual - 1;
    }
    case 'decimal': {
      const low = option.min ?? option.above ?? -3;
      const high = option.max ?? option.below ?? 7;
      const middle = Math.max(low, 0) + Math.min(high - Math.max(low, 0), 1) / 3;
      return middle === option.default ? middle / 2 : middle;
    }
    case 'choice':
      return option.values.find((name) => name !== option.default);
    case 'flag':
      return option.default !== true;
    case 'list':
      return option.of.kind === 'choice' ? [option.of.values.at(-1)] : [otherValue(option.of)];
    case 'column':
      return "it's a column";
    case 'pair':
      return { users: 'readers', items: 'books' };
    case 'value':
      return undefined;
    default:
      return 'a b/ü.txt';
  }
}

const cases = Object.entries(COMMANDS).flatMap(([verb, parts]) =>
  Object.entries(parts as Readonly<Record<string, Declaration>>).flatMap(([part, declared]) =>
    listOptions(declared)
      .filter(({ flag, off }) => flag !== undefined || off !== undefined)
      .map((leaf) => ({ verb, part, declared, leaf, name: leaf.path.join('.') })),
  ),
);

describe('every option of every command', () => {
  it('is in the list of tested options', () => {
    expect(cases.length).toBeGreaterThan(100);
    for (const verb of Object.keys(COMMANDS)) expect(cases.some((c) => c.verb === verb)).toBe(true);
  });

  it.each(cases)('$verb $part $name goes to a command line and back', ({ declared, leaf }) => {
    const options: Record<string, unknown> = {};
    putAt(options, leaf.path, otherValue(leaf.option));
    expect(checkOptions(declared, options as never)).toEqual(options);
    const kept = JSON.parse(JSON.stringify(options));
    const words = toArguments(declared, kept);
    expect(words.length).toBeGreaterThan(0);
    const command = new Command('x').exitOverride();
    addFlags(command, withoutRequired(declared), 'all');
    command.parse(words, { from: 'user' });
    expect(typedOptions(command, declared)).toEqual(options);
  });

  it.each(cases)('$verb $part $name is refused if its type is wrong', ({ declared, leaf }) => {
    for (const wrong of [Symbol('x'), Number.NaN, null, leaf.option.kind === 'flag' ? 'yes' : new Date()]) {
      const options: Record<string, unknown> = {};
      putAt(options, leaf.path, wrong);
      expect(() => checkOptions(declared, options as never)).toThrow(OptionError);
      expect(() => checkOptions(declared, options as never)).toThrow(leaf.path.join('.'));
    }
  });

  it.each(Object.keys(COMMANDS))('%s has the flags of its declaration and no others', async (name) => {
    const command = (await createProgram()).commands.find((c) => c.name() === name)!;
    const parts = Object.values(COMMANDS[name as keyof typeof COMMANDS] as Record<string, Declaration>);
    const declared = parts.flatMap((part) => listOptions(part).flatMap(({ flag, off }) => [flag, off]));
    const flags = command.options.map(({ short, long }) => [short, long].filter(Boolean).join(', '));
    expect(new Set(flags)).toEqual(new Set([...declared.filter(Boolean), '--help-all', '-V, --version']));
  });
});

describe('a study', () => {
  const trips = listOptions(STUDY).map((leaf) => ({ leaf, name: leaf.path.join('.') }));

  it.each(trips)('keeps $name in its receipt, and the receipt gives it back', ({ leaf }) => {
    const options: Record<string, unknown> = {};
    const [name] = leaf.path;
    const asked = name === 'calibrate' ? 7 : name === 'halfLife' ? '90d' : otherValue(leaf.option);
    putAt(options, leaf.path, asked);
    const settings = studySettings(options, 1000);
    const back = checkReceipt(document(JSON.parse(JSON.stringify(settings)))).settings;
    expect(back).toEqual(settings);
    const words = toArguments(STUDY, back, { always: trips.map(({ name }) => name) });
    const command = new Command('x').exitOverride();
    addFlags(command, STUDY, 'all');
    command.parse(words, { from: 'user' });
    const typed = typedOptions(command, STUDY);
    expect(valueAt(typed, leaf.path)).toEqual(asked);
    expect(studySettings(typed, 5e6)).toEqual(settings);
  });

  it('refuses settings that no study wrote, by name', () => {
    const settings = JSON.parse(JSON.stringify(studySettings({}, 1000)));
    for (const [change, says] of [
      [{ iterations: '400' }, /receipt\.settings: iterations "400"/],
      [{ iterations: undefined }, /receipt\.settings\.iterations is missing/],
      [{ features: [] }, /features an empty list/],
      [{ users: [] }, /users an empty list/],
      [{ users: { sigma: 2 } }, /users\.sigma 2/],
      [{ rejects: '/etc/passwd' }, /"rejects": there is no such option/],
      [{ models: ['sparse'] }, /"models": there is no such option; did you mean model\?/],
      [JSON.parse('{"__proto__": {"x": 1}}'), /__proto__/],
    ] as const) {
      const changed = Object.assign(Object.create(null), settings);
      for (const key of Object.keys(change)) {
        Object.defineProperty(changed, key, { value: change[key as never], enumerable: true });
      }
      expect(() => checkReceipt(document(changed))).toThrow(says);
    }
  });
});

it('a wrong option is named as the reader knows it', () => {
  const error = (() => {
    try {
      checkOptions(STUDY, { users: { tau: 0 } });
    } catch (caught) {
      return caught as OptionError;
    }
    throw new Error('nothing was refused');
  })();
  expect(error.message).toMatch(/^users\.tau 0: expected a number/);
  expect(error.say((path) => flagName(STUDY, path)!)).toMatch(/^--tau-users 0: expected a number/);
});

function withoutRequired(declared: Declaration): Declaration {
  return Object.fromEntries(
    Object.entries(declared).map(([name, option]) => [name, { ...option, required: false }]),
  ) as Declaration;
}

function document(settings: unknown): unknown {
  return {
    format: 'graphex-study',
    version: RESULTS_VERSION,
    receipt: {
      fingerprint: '0123456789abcdef',
      settings,
      origin: { source: 'ratings.csv', sourceFrom: null, read: {}, titles: null },
    },
    check: {},
    runs: [],
    chosen: {},
    evidence: [],
    topics: null,
    summary: {},
  };
}
