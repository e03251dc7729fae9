// Other machines, emulated: the same bits as here, model files both ways, their paths and line ends. GRAPHEX_ARM64 and
// GRAPHEX_WINDOWS hold the command that runs Node there; .ci/run installs what they need and sets them.

import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadModel } from '../../src/store/model-file.js';
import { bin, scratch } from './run.js';

interface Machine {
  readonly name: string;
  readonly command: readonly string[];
  /** A path as that system writes it. */
  readonly path: (path: string) => string;
}

const words = (text: string | undefined) => (text ?? '').split(' ').filter((word) => word !== '');
const machines: Machine[] = [
  { name: 'ARM64', command: words(process.env.GRAPHEX_ARM64), path: (path: string) => path },
  {
    name: 'Windows',
    command: words(process.env.GRAPHEX_WINDOWS),
    path: (path: string) => `Z:${path.replaceAll('/', '\\')}`,
  },
].filter(({ command }) => command.length > 0);

const folder = scratch();
const table = join(import.meta.dirname, '../fixtures/formats-0.2/pairs.csv');
const crlf = join(folder, 'windows.csv');
writeFileSync(crlf, readFileSync(table, 'utf8').replaceAll('\n', '\r\n'));
const ASCENT = ['-k', '2', '--iterations', '10', '--no-evidence', '--threads', '2', '--engine', 'cpu'];
const RANKING = ['--method', 'ranking', '-k', '2', '--average', '1', '--iterations', '3', '--threads', '1'];
const HERE = [process.execPath];

/** Runs a command to its end. Its output goes to files, because Wine writes only to files. */
function run(command: readonly string[], args: readonly string[]): string {
  const [out, err] = [join(folder, 'stdout'), join(folder, 'stderr')];
  const files = [openSync(out, 'w'), openSync(err, 'w')];
  const [program, ...first] = command;
  const ended = spawnSync(program, [...first, bin, ...args, '--quiet'], { stdio: ['ignore', ...files] });
  for (const file of files) closeSync(file);
  expect([ended.status, args.join(' '), readFileSync(err, 'utf8')]).toEqual([0, args.join(' '), '']);
  return readFileSync(out, 'utf8');
}

describe.each(machines)('$name', ({ name, command, path }) => {
  const [here, there] = ['here', name].map((place) => {
    const home = join(folder, `${name}-${place}`);
    mkdirSync(home);
    return (file: string) => join(home, file);
  });
  const bytes = (file: string) => readFileSync(file).toString('base64');

  it('fits to the same bytes, replaces an existing model, and both machines read both files', async () => {
    run(HERE, ['fit', table, ...ASCENT, '-o', here('model')]);
    writeFileSync(there('model'), '');
    run(command, ['fit', path(table), ...ASCENT, '-o', path(there('model'))]);
    expect(bytes(there('model'))).toBe(bytes(here('model')));
    expect(readdirSync(there('.'))).toEqual(['model']);
    expect((await loadModel(there('model'))).users.count).toBe(60);
    const ask = ['--user', 'u1', '-n', '3', '--json'];
    expect(run(command, ['recommend', path(here('model')), ...ask])).toBe(
      run(HERE, ['recommend', there('model'), ...ask]),
    );
  });

  it('makes the same ranker of a table with the line ends of Windows', () => {
    run(HERE, ['fit', table, ...RANKING, '-o', here('ranker')]);
    run(command, ['fit', path(crlf), ...RANKING, '-o', path(there('ranker'))]);
    expect(bytes(there('ranker'))).toBe(bytes(here('ranker')));
  });

  it('splits in the same way, to the same bytes', () => {
    run(HERE, ['split', table, '-o', here('split')]);
    run(command, ['split', path(table), '-o', path(there('split'))]);
    const files = readdirSync(here('split'));
    expect(readdirSync(there('split'))).toEqual(files);
    for (const file of files.filter((one) => one.endsWith('.parquet'))) {
      expect(bytes(join(there('split'), file)), file).toBe(bytes(join(here('split'), file)));
    }
  });
});

it.runIf(machines.length === 0)(
  'no other machine to compare with: set GRAPHEX_ARM64 or GRAPHEX_WINDOWS',
  () => {},
);
