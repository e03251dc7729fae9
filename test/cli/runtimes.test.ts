// Other runtimes give the numbers of the Node that runs the tests, and write nothing to stderr. GRAPHEX_RUNTIMES lists
// their programs in the form of PATH; .ci/run installs some and sets it.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bin, scratch, writeTable } from './run.js';

const runtimes = (process.env.GRAPHEX_RUNTIMES ?? '').split(delimiter).filter((path) => path !== '');
const folder = scratch();
const table = join(folder, 'table.csv');
writeTable(table, 3000);

const FITS = [['ascent', '30'] as const, ['ranking', '10'] as const];
const isDeno = (runtime: string) => basename(runtime).startsWith('deno');

/** What a command prints; it must succeed with an empty stderr. */
function run(runtime: string, args: readonly string[]): string {
  const flags = isDeno(runtime) ? ['run', '--allow-all', '--quiet'] : [];
  const ended = spawnSync(runtime, [...flags, bin, ...args], { encoding: 'utf8', timeout: 100_000 });
  expect(ended, args.join(' ')).toMatchObject({ status: 0, stderr: '' });
  return ended.stdout;
}

interface Tensor {
  readonly dtype: string;
  readonly bytes: Buffer;
}

/** The tensors of the model that a fit writes. */
function fitted(runtime: string, method: string, iterations: string): Map<string, Tensor> {
  const file = join(folder, 'model.safetensors');
  const options = ['-k', '4', '--threads', '2', '--engine', 'cpu', '--quiet'];
  run(runtime, ['fit', table, '--method', method, '--iterations', iterations, ...options, '-o', file]);
  const bytes = readFileSync(file);
  const start = 8 + Number(bytes.readBigUInt64LE(0));
  const header: Record<string, { dtype: string; data_offsets: [number, number] }> = JSON.parse(
    bytes.toString('utf8', 8, start),
  );
  return new Map(
    Object.entries(header)
      .filter(([name]) => name !== '__metadata__')
      .map(
        ([
          name,
          {
            dtype,
            data_offsets: [from, to],
          },
        ]) => [name, { dtype, bytes: bytes.subarray(start + from, start + to) }],
      ),
  );
}

describe.each(runtimes.filter((runtime) => !isDeno(runtime)))('%s', (runtime) => {
  test('checks as this Node does, to the last bit', () => {
    const args = ['check', table, '--json', '--quiet'];
    expect(run(runtime, args)).toBe(run(process.execPath, args));
  });

  test.each(FITS)('fits by %s to the same bits', (method, iterations) => {
    const here = fitted(process.execPath, method, iterations);
    expect(here.size).toBeGreaterThan(3);
    expect(fitted(runtime, method, iterations)).toEqual(here);
  });
});

// Deno is built with other exponentials and logarithms, which differ in their last digit; the kernels do not use them.
describe.each(runtimes.filter(isDeno))('%s', (runtime) => {
  test('checks as this Node does, to eight digits', () => {
    const rounded = (text: string) =>
      JSON.parse(text, (_, value) => (typeof value === 'number' ? Number(value.toPrecision(8)) : value));
    const args = ['check', table, '--json', '--quiet'];
    expect(rounded(run(runtime, args))).toEqual(rounded(run(process.execPath, args)));
  });

  test.each(FITS)(
    'fits by %s to the same bits of every table, and to 14 digits of the rest',
    (method, iterations) => {
      const here = fitted(process.execPath, method, iterations);
      const there = fitted(runtime, method, iterations);
      expect([...there.keys()]).toEqual([...here.keys()]);
      expect([...here.values()].some(({ dtype }) => dtype === 'F32')).toBe(true);
      for (const [name, { dtype, bytes }] of here) {
        const other = there.get(name)!.bytes;
        if (dtype !== 'F64') expect(other.equals(bytes), name).toBe(true);
        else
          for (let at = 0; at < bytes.length; at += 8)
            expect(Math.abs(other.readDoubleLE(at) / bytes.readDoubleLE(at) - 1), name).toBeLessThan(1e-14);
      }
    },
  );
});

test.runIf(runtimes.length === 0)('no other runtime to compare with: set GRAPHEX_RUNTIMES', () => {});
