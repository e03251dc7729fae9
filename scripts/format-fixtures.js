// Writes one small file of every format that graphex reads back, with what reading them gives:
//   node scripts/format-fixtures.js FOLDER
// Each version's files are made once, by that version, and stay: test/store/formats.test.ts always reads them.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node scripts/format-fixtures.js FOLDER');
const { fit, fitPartition, loadModel, readGraph, recommendMany, saveModel, unfinishedFit, VERSION } =
  await import(join(root, 'dist/index.js'));

mkdirSync(folder, { recursive: true });
const at = (name) => join(folder, name);
/** Runs a command within the folder, so that no path of this machine is in the files. */
const graphex = (...args) =>
  JSON.parse(
    execFileSync(process.execPath, [join(root, 'bin/graphex.js'), ...args, '--quiet', '--json'], {
      cwd: folder,
    }).toString(),
  );

// Sixty users and forty items in two tastes; ids are texts on one side and numbers on the other.
const rows = ['user,item,count'];
for (let user = 0; user < 60; user++) {
  for (let k = 0; k < 4 + (user % 5); k++) {
    const item = (user * 7 + k * k * 3 + (user % 2) * 20) % 40;
    rows.push(`${user % 3 === 0 ? 'Zoë' : 'u'}${user},${item},${1 + ((user + k) % 3)}`);
  }
}
writeFileSync(at('pairs.csv'), `${rows.join('\n')}\n`);

const SHORT = ['--threads', '1', '--iterations', '20'];
graphex('fit', 'pairs.csv', '-k', '3', ...SHORT, '-o', 'posterior.safetensors');
graphex('fit', 'pairs.csv', '-k', '2', ...SHORT, '--multi', '--counts', 'hurdle', '-o', 'counts.safetensors');
graphex(
  'fit',
  'pairs.csv',
  ...'--method ranking -k 3 --average 2 -o ranker.safetensors'.split(' '),
  ...SHORT,
);
graphex('fit', 'pairs.csv', '--method', 'knn', '--threads', '1', '-o', 'items.safetensors');
graphex('split', 'pairs.csv', '-o', 'split');
graphex('partition', 'pairs.csv', '--shards', '2', '-o', 'partition');
graphex('fit', 'partition', '-k', '2', ...SHORT, '--by-shard', '-o', 'by-shard');
graphex('split', 'partition', '-o', 'split-in-shards');
const QUICK = '-k 2 --draws 5 --no-ranker --baselines popularity'.split(' ');
graphex('study', 'pairs.csv', '-o', 'study', ...QUICK, ...SHORT);
const results = JSON.parse(readFileSync(at('study/results.json'), 'utf8'));
results.receipt.origin.machine = { cpu: 'any', cores: 2, memory: 2 ** 33, system: 'any' };
rmSync(at('study'), { recursive: true });
mkdirSync(at('study'));
writeFileSync(at('study/results.json'), `${JSON.stringify(results)}\n`);

// Interrupted fits: a posterior, a ranker, and a fit over shards, whose state is a folder.
const { graph } = await readGraph(at('pairs.csv'), { threads: 1 });
const FIT = { features: 2, threads: 1, tolerance: 0, engine: 'cpu', iterations: 20 };
/** Stops a fit after ten iterations and returns the state that it left. */
const stopped = async (run) => {
  const stop = new AbortController();
  const options = { ...FIT, signal: stop.signal, onProgress: ({ done }) => done >= 10 && stop.abort() };
  return run(options).then(
    () => {
      throw new Error('the fit ended before it was stopped');
    },
    (error) => {
      if (!stop.signal.aborted) throw error;
      return unfinishedFit(error);
    },
  );
};
const RANKING = { method: 'ranking', average: 1, blend: false };
for (const [name, more] of [
  ['stopped.partial', {}],
  ['stopped-ranker.partial', RANKING],
]) {
  const { model, checkpoint } = await stopped((options) => fit(graph, { ...options, ...more }));
  await saveModel(at(name), model, { checkpoint });
}
for (const [name, more] of [
  ['stopped-shards.partial', {}],
  ['stopped-ranking-shards.partial', RANKING],
]) {
  const checkpoint = { folder: at(name) };
  await stopped((options) => fitPartition(at('partition'), { ...options, ...more, checkpoint }));
}
const { model: whole } = await fit(graph, FIT);

const lists = {};
for (const name of ['posterior', 'counts', 'ranker', 'items']) {
  const model = await loadModel(at(`${name}.safetensors`));
  lists[name] = await recommendMany(model, [{ user: 'Zoë0' }, { user: 'u1' }], { n: 5 });
}
const expected = {
  version: VERSION,
  fingerprint: results.receipt.fingerprint,
  lists,
  bound: whole.bound,
};
writeFileSync(at('expected.json'), `${JSON.stringify(expected, undefined, 1)}\n`);
