import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { fit } from '../../src/fit/fit.js';
import { unfinishedFit } from '../../src/fit/unfinished.js';
import { readGraph } from '../../src/ingest/read.js';
import { loadModel, saveModel } from '../../src/store/model-file.js';
import { graphex, scratch, writeTable } from './run.js';

const folder = scratch();
const data = join(folder, 'data.csv');
const at = (name: string) => join(folder, name);
/** Lines are wrapped. */
const words = (text: string) => text.replace(/\s+/g, ' ');
const LOUD = ['-k', '4', '--iterations', '3', '--engine', 'cpu'];
const SMALL = [...LOUD, '--quiet'];
writeTable(data, 2000);

it('replaces the model that it starts from, and warns if the data lack its users', async () => {
  const model = at('nightly');
  expect((await graphex('fit', data, ...SMALL, '-o', model)).status).toBe(0);
  const same = await graphex('fit', data, '--from', model, ...SMALL, '-o', model);
  expect([same.status, same.stderr]).toEqual([0, '']);
  const few = at('few.csv');
  writeTable(few, 40);
  const { status, stderr } = await graphex('fit', few, '--from', model, ...LOUD, '-o', model);
  expect(status).toBe(0);
  expect(words(stderr)).toMatch(
    /of the previous model are not in these data; --from takes all data, not only the new/,
  );
});

it('keeps what the previous model knows about the items, unless a table is given', async () => {
  const table = at('things.csv');
  const coded = at('coded.csv');
  // Ids with leading zeros are texts, and stay so.
  const pairs = readFileSync(data, 'utf8').replace(/,(\d+)$/gm, (_, id) => `,${id.padStart(4, '0')}`);
  writeFileSync(coded, pairs);
  const { graph } = await readGraph(coded);
  const ids = Array.from({ length: graph.items.count }, (_, v) => graph.items.ids.at(v));
  const lines = (color: string) =>
    [...ids, '0999'].map((id, v) => `${id},Title of ${id},${v % 2 ? color : 'blue'}`).join('\n');
  writeFileSync(table, `id,title,color\n${lines('red')}\n`);
  const first = ['fit', coded, '--method', 'ranking', '--no-blend', '--item-info', table];
  expect((await graphex(...first, ...SMALL, '-o', at('described'))).status).toBe(0);
  const next = await graphex('fit', coded, '--from', at('described'), ...SMALL, '-o', at('described'));
  expect(words(next.stdout)).toContain('The attributes of the things are those of the previous model.');
  const { info } = await loadModel(at('described'));
  expect(info!.items!.titles.slice(0, 2)).toEqual([`Title of ${ids[0]}`, `Title of ${ids[1]}`]);
  expect(info!.items!.added.at(0)).toBe('0999');
  expect(info!.items!.content).toBeDefined();
  writeFileSync(table, `id,title,color\n${lines('green')}\n`);
  const given = ['fit', coded, '--from', at('described'), '--item-info', table];
  const other = await graphex(...given, ...SMALL, '-o', at('described'));
  expect(words(other.stdout)).not.toContain('those of the previous model');
  expect((await loadModel(at('described'))).info!.items!.names).toContain('green');
});

describe('a ranking fit from a previous model', () => {
  const plain = at('plain');
  beforeAll(async () => {
    const first = ['fit', data, '--method', 'ranking', '--no-blend', '--users-in-model', 'none'];
    expect((await graphex(...first, ...SMALL, '-o', plain)).status).toBe(0);
  });

  it('says that there is no blend, as in the previous model, and that the previous model holds no users', async () => {
    const { stdout } = await graphex('fit', data, '--from', plain, ...SMALL, '-o', at('again'));
    expect(words(stdout)).toContain('previous model: the previous model has no people; 150 things matched');
    expect(words(stdout)).toContain('this one has no blend; the option blend adds it');
  });

  it('adds the blend with --blend', async () => {
    const { stdout, stderr } = await graphex(
      'fit',
      data,
      ...['--from', plain, '--blend', ...SMALL, '--json', '-o', at('blended')],
    );
    expect(stderr).toBe('');
    expect(JSON.parse(stdout).blend).toMatchObject({ weights: expect.anything() });
  });
});

it('a fit of counts from a model of edges says that this is a poor start', async () => {
  await graphex('fit', data, '--model', 'dense', ...SMALL, '-o', at('edges'));
  const counts = ['--multi', '--counts', 'poisson', '--from', at('edges')];
  const { stdout } = await graphex('fit', data, ...counts, ...SMALL, '-o', at('counts'));
  expect(words(stdout)).toContain('has rates of edges, this one has rates of counts');
  const { stdout: same } = await graphex('fit', data, '--from', at('edges'), ...SMALL, '-o', at('same'));
  expect(words(same)).not.toContain('rates were');
});

it('a resumed ranking fit keeps its blend, and says so', async () => {
  const { graph } = await readGraph(data, { threads: 1 });
  const abort = new AbortController();
  const task = { signal: abort.signal, onProgress: () => abort.abort() };
  const options = { method: 'ranking', features: 4, engine: 'cpu', seed: 0, threads: 1 } as const;
  const stopped = unfinishedFit(await fit(graph, { ...options, ...task }).catch((error) => error))!;
  await saveModel(at('saved.partial'), stopped.model, { checkpoint: stopped.checkpoint });
  const go = ['fit', data, '--resume', at('saved.partial'), '--quiet', '-o', at('resumed')];
  const { status, stderr } = await graphex(...go, '--no-blend');
  expect([status, stderr]).toEqual([
    2,
    'error: --resume: the saved fit was started with the blend; leave out what differs, or start again without --resume\n',
  ]);
  expect((await graphex(...go, '--blend', '--precision', 'float16')).status).toBe(0);
});

describe('a baseline', () => {
  it('is printed with its setting, and with iterations if it has any', async () => {
    const printed = async (method: string) => {
      const { stdout } = await graphex(
        'fit',
        data,
        '--method',
        method,
        '--trials',
        '3',
        '--quiet',
        '-o',
        at(method),
      );
      return stdout;
    };
    const ease = await printed('ease');
    expect(ease).toMatch(
      /^setting {6}lambda [\d.]+, users [\d.]+; the best of 3 settings, tried on held-back\s+people$/m,
    );
    expect(ease).not.toContain('iterations');
    expect(await printed('popularity')).not.toMatch(/iterations|setting/);
    expect(await printed('ials')).toMatch(/^iterations {3}\d+$/m);
  });

  it.each([
    [
      'ease',
      ['--engine', 'cpu'],
      '--engine does not go with --method ease: baselines are computed on the CPU',
    ],
    ['ease', ['--no-blend'], '--no-blend does not go with --method ease: only --method ranking has a blend'],
    [
      'ease',
      ['--average', '2'],
      '--average does not go with --method ease: only --method ranking adds the scores of several fits',
    ],
    ['ease', ['--sigma-users', '0.2'], '--sigma-users does not go with --method ease: it belongs to ascent'],
    [
      'ials',
      ['-k', '8'],
      '-k does not go with --method ials: its settings are searched on held-back users; --trials',
    ],
    [
      'popularity',
      ['--trials', '5'],
      '--trials does not go with --method popularity: it is computed from the data alone',
    ],
    [
      'popularity',
      ['-k', '8'],
      '-k does not go with --method popularity: it is computed from the data alone',
    ],
  ])('%s says why it does not take %j', async (method, flags, says) => {
    const { status, stderr } = await graphex(
      'fit',
      data,
      '--method',
      method,
      ...flags,
      '--quiet',
      '-o',
      at('no'),
    );
    expect([status, stderr]).toEqual([2, expect.stringContaining(`error: ${says}`)]);
  });

  it('of data too small to tune on say what to do instead', async () => {
    const tiny = at('tiny.csv');
    writeFileSync(tiny, 'u,i\na,x\nb,y\nc,x\n');
    const said = async (...flags: string[]) =>
      (await graphex('fit', tiny, ...flags, '--quiet', '-o', at('no'))).stderr;
    expect(await said('--method', 'slim')).toMatch(
      /use more data, or fit popularity, which has no setting\n$/,
    );
  });
});

it('reasons of the methods name options by their flags', async () => {
  const said = async (...flags: string[]) =>
    (await graphex('fit', data, '--method', 'ranking', ...flags, '--quiet', '-o', at('no'))).stderr;
  expect(await said('--restarts', '2')).toContain('; --average adds the scores of several fits');
  expect(await said('-k', 'auto')).toContain('it has no bound to choose by; leave it out, or give a number');
});
