import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkOptions } from '../../src/options/check-options.js';
import { COMMANDS } from '../../src/options/commands.js';
import type { AnyOption, Declaration } from '../../src/options/declare.js';
import { FOLD_IN, LEVELS } from '../../src/options/library.js';
import { listOptions, putAt } from '../../src/options/option-list.js';
import { toJsonSchema } from '../../src/options/schema.js';
import { READ } from '../../src/options/shared.js';

// The schema of a declaration and its check read one declaration: both accept the same values.

const declarations: Readonly<Record<string, Declaration>> = {
  ...Object.fromEntries(Object.entries(COMMANDS).map(([name, { options }]) => [name, options])),
  reading: READ,
  folding: FOLD_IN,
};

/** Values around the borders of an option, and values of no use. */
function values(option: AnyOption): fc.Arbitrary<unknown> {
  const near: fc.Arbitrary<unknown>[] = [];
  if (option.kind === 'whole' || option.kind === 'decimal') {
    const ends = [option.min, option.max, option.above, option.below, option.default];
    for (const end of ends) {
      if (typeof end === 'number') near.push(fc.constantFrom(end, end + 1, end - 1, end / 2, -end));
    }
  }
  if (option.kind === 'choice') near.push(fc.constantFrom(...option.values));
  if (option.kind === 'pair')
    near.push(fc.record({ users: fc.string(), items: fc.oneof(fc.string(), fc.nat()) }));
  if (option.kind === 'list') near.push(fc.array(values(option.of), { maxLength: 3 }));
  if (option.kind === 'column' || option.kind === 'text') near.push(fc.string(), fc.constant('a\0b'));
  return fc.oneof(
    ...near,
    fc.boolean(),
    fc.integer({ min: -3, max: 3 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ maxLength: 4 }),
    fc.constantFrom(null, {}, []),
  );
}

// A command may have no more than what the command line alone knows.
const some = Object.entries(declarations).filter(([, declared]) => Object.keys(declared).length > 0);

describe.each(some)('the schema of %s', (_, declared) => {
  const schema = z.fromJSONSchema(JSON.parse(JSON.stringify(toJsonSchema(declared))));
  const plain = listOptions(declared).filter(({ option }) => option.kind !== 'value');

  it('accepts what the function accepts, and refuses what it refuses', () => {
    const given = fc
      .constantFrom(...plain)
      .chain((leaf) => values(leaf.option).map((value) => ({ path: leaf.path, value })));
    fc.assert(
      fc.property(given, ({ path, value }) => {
        const options: Record<string, unknown> = {};
        putAt(options, path, value);
        expect(schema.safeParse(options).success, JSON.stringify(options)).toBe(accepts(declared, options));
      }),
      { numRuns: 400 },
    );
  });

  it('knows no other names', () => {
    expect(schema.safeParse({ colour: 'red' }).success).toBe(false);
    expect(schema.safeParse({}).success).toBe(true);
  });

  it('says of each option what it means', () => {
    const { properties } = toJsonSchema(declared);
    for (const [name, option] of Object.entries(declared)) {
      if (option.kind !== 'value') expect(properties[name].description).toBe(option.meaning);
    }
  });
});

it('required options are required', () => {
  const schema = z.fromJSONSchema(JSON.parse(JSON.stringify(toJsonSchema(LEVELS))));
  expect(schema.safeParse({ users: 1 }).success).toBe(false);
  expect(schema.safeParse({ users: 1, items: 0.5 }).success).toBe(true);
});

function accepts(declared: Declaration, options: object): boolean {
  try {
    checkOptions(declared, options as never);
    return true;
  } catch {
    return false;
  }
}
