import { describe, expect, it } from 'vitest';
import { repeatCommand } from '../../src/report/words/next-commands.js';
import { predictionQuestion } from '../../src/report/words/prediction.js';
import { studyVerdicts } from '../../src/report/words/study.js';
import { type StudyOptions, studySettings } from '../../src/study/options.js';
import type { StudyResults } from '../../src/study/results.js';
import { numbers } from './study-numbers.js';

describe('a study in words', () => {
  it('says which side is sparse and what the evidence is', () => {
    const { sparsity } = studyVerdicts(numbers({ 'sparse-30': 0.3, EASE: 0.2 }));
    expect(sparsity.headline).toBe('Dense users, sparse items');
    expect(sparsity.text).toContain(
      'The evidence prefers a fit that is sparse on both sides to one that is dense on both, by 42 nats',
    );
  });

  it('says so when a baseline wins, and what to do about it', () => {
    const { ranking, next } = studyVerdicts(numbers({ 'sparse-30': 0.2, 'dense-30': 0.21, ease: 0.3 }));
    expect(ranking.winner).toBe('baseline');
    expect(ranking.headline).toBe('A baseline wins: EASE');
    expect(ranking.text).toContain('0.300');
    expect(next.map((step) => step.command)).toEqual(
      expect.arrayContaining([
        'npx graphex fit DATA --method ease -o ease.safetensors',
        'npx graphex recommend ease.safetensors --user ann -n 20',
        'npx graphex serve ease.safetensors',
      ]),
    );
    expect(next.map((step) => step.text).join('\n')).toContain('use EASE, which ranks best here, on all');
  });

  it('after a study of a split, says that the whole table should be fitted', () => {
    const results = numbers({ 'sparse-30': 0.2, ease: 0.31 });
    const advised = (parts: object | undefined) =>
      studyVerdicts({
        ...results,
        receipt: { ...results.receipt, origin: { source: 'split', read: {}, ...(parts && { parts }) } },
      } as typeof results).next.find(({ text }) => text.startsWith('To recommend'))!.text;
    expect(advised(undefined)).toMatch(/ on all of the data:$/);
    expect(advised({ folder: 'split' })).toMatch(
      / on all of your data\. This command fits the training data only; name your whole table instead:$/,
    );
    expect(advised({ folder: 'split', folds: 5 })).toMatch(/fits the training data of the first fold only;/);
  });

  it('repeats a study of a given split with all its options, and any other from its results', () => {
    const plain = numbers({ 'sparse-30': 0.2 });
    const repeated = (parts: object | undefined, settings = {}) => {
      const origin = { source: 'train.csv', read: { users: 'buyer' }, time: 'day', ...(parts && { parts }) };
      const receipt = { ...plain.receipt, settings: { ...plain.receipt.settings, ...settings }, origin };
      return repeatCommand({ ...plain, receipt } as unknown as typeof plain).replace(
        'npx graphex study ',
        '',
      );
    };
    expect(repeated(undefined)).toBe('--from results.json -o again');
    const tables = {
      train: 'train.csv',
      test: 'my test.csv',
      lists: [{ name: 'mine', source: 'lists.csv' }],
    };
    expect(repeated(tables, { protocol: 'all-items', seed: 7, halfLife: 'auto' })).toBe(
      "--train train.csv --test 'my test.csv' --lists mine=lists.csv --users buyer --time day -k 30 --model paper --half-life auto --seed 7 -o again",
    );
    expect(repeated({ folder: 'parts', folds: 5, lists: [] }, { repeats: 5, testUsers: 0.3 })).toBe(
      'parts --users buyer -k 30 --model paper -o again',
    );
  });

  it('advises the ranker or a baseline if one wins or ties, else a model fitted to explain', () => {
    const advised = (recall: Parameters<typeof numbers>[0], sure = true) =>
      studyVerdicts(numbers(recall, { sure }))
        .next.find(({ text }) => text.startsWith('To recommend'))!
        .command!.replace('npx graphex fit DATA ', '');
    const ranker = '--method ranking -o ranker.safetensors';
    expect(advised({ 'sparse-30': 0.2, ranking: 0.31, ease: 0.3 })).toBe(ranker);
    expect(advised({ 'sparse-30': 0.2, ranking: 0.3, ease: 0.31 }, false)).toBe(ranker);
    expect(advised({ 'sparse-30': 0.32, ranking: 0.319, ease: 0.3 }, false)).toBe(ranker);
    expect(advised({ 'sparse-30': 0.32, ease: 0.319 }, false)).toBe('--method ease -o ease.safetensors');
    expect(advised({ 'sparse-30': 0.32, 'dense-30': 0.33, ranking: 0.2, ease: 0.3 })).toBe(
      '-k 30 --model dense -o model.safetensors',
    );
    expect(advised({ 'sparse-30': 0.32, 'dense-30': 0.3 })).toBe(ranker);
  });

  it('says that a model is below popularity, in both figures or in one', () => {
    const recall = { 'sparse-30': 0.2, 'dense-30': 0.19, ranking: 0.35, popularity: 0.3 };
    const { text } = studyVerdicts(numbers(recall)).ranking;
    expect(text).toContain(
      'The sparse model and the dense model rank below popularity, the same list for everyone: do not recommend with them.',
    );
    const mixed = numbers(recall);
    const [sparse] = mixed.runs[0].leaderboard.rows;
    Object.assign(sparse.all, { ndcg: { mean: 0.31, standardError: 0.01 } });
    expect(studyVerdicts(mixed).ranking.text).toContain(
      'By recall@20, the sparse model ranks below popularity, the same list for everyone.',
    );
    expect(studyVerdicts(numbers({ ...recall, popularity: 0.1 })).ranking.text).not.toContain(
      'popularity, the',
    );
  });

  it('claims a win only if the interval excludes zero', () => {
    const sure = studyVerdicts(numbers({ 'sparse-30': 0.32, EASE: 0.3 })).ranking;
    expect(sure).toMatchObject({ winner: 'model', headline: 'The sparse model ranks best' });
    const unsure = studyVerdicts(numbers({ 'sparse-30': 0.32, EASE: 0.3 }, { sure: false })).ranking;
    expect(unsure).toMatchObject({ winner: 'tie', headline: 'The sparse model and EASE rank equally well' });
    const both = { 'sparse-30': 0.32, 'dense-30': 0.319 };
    expect(studyVerdicts(numbers(both, { sure: false })).ranking.headline).toBe(
      'The sparse and the dense model rank best, equally well',
    );
    expect(studyVerdicts(numbers(both)).ranking.headline).toBe('The sparse model ranks best');
    expect(unsure.text).toContain('may be chance');
  });

  it('says nothing about baselines if there are none', () => {
    const { ranking } = studyVerdicts(numbers({ 'sparse-30': 0.32, 'dense-30': 0.3 }));
    expect(ranking.winner).toBeNull();
    expect(ranking.text).toContain('No baseline was fitted');
  });

  it('names the model that predicts better, and by how much', () => {
    const recall = { 'sparse-30': 0.3, EASE: 0.2 };
    const sparse = studyVerdicts(numbers(recall, { items: [99, 80] })).prediction!;
    expect(sparse.winner).toBe('sparse');
    expect(sparse.text).toBe(
      'The number of items in the test part is 100; the sparse model expects 99, the dense model 80.',
    );
    expect(sparse.details.join(' ')).toContain('1.0 % too low; dense: 20.0 % too low');
    expect(studyVerdicts(numbers(recall, { items: [120, 100] })).prediction!.winner).toBe('dense');
    expect(studyVerdicts(numbers(recall, { items: [100.2, 100] })).prediction!.winner).toBe('alike');
  });

  it('names both models if one is closest and the intervals of another contain more', () => {
    const results = numbers({ 'auto-30': 0.3, ease: 0.2 }, { items: [95.5, 98, 80] });
    const [, sparse] = results.runs[0].fits;
    Object.assign(sparse.predictive!.draws.items!, { low: 97, high: 99 });
    expect(studyVerdicts(results).prediction).toMatchObject({
      winner: 'sparse',
      headline: 'The sparse model comes closest; the auto model’s intervals contain more figures',
    });
  });

  it('compares three models: the closest, and those that tie', () => {
    const recall = { 'auto-30': 0.3, 'sparse-30': 0.3, 'dense-30': 0.29, EASE: 0.2 };
    const of = (items: readonly number[]) => studyVerdicts(numbers(recall, { items })).prediction!;
    const best = of([99, 96, 80]);
    expect(best).toMatchObject({ winner: 'auto', headline: 'The auto model predicts best' });
    expect(best.text).toBe(
      'The number of items in the test part is 100; the auto model expects 99, the sparse model 96, the dense model 80.',
    );
    expect(best.details).toContain(
      'The auto model is closest in the number of items (1.0 % too low; sparse: 4.0 % too low; dense: 20.0 % too low).',
    );
    expect(of([80, 99, 96])).toMatchObject({ winner: 'sparse', headline: 'The sparse model predicts best' });
    expect(of([99, 99.2, 80])).toMatchObject({
      winner: 'auto',
      headline: 'The auto and the sparse model predict best, equally well',
    });
    expect(of([100, 100.2, 99.8])).toMatchObject({
      winner: 'alike',
      headline: 'All three predict equally well',
    });
    expect(of([200, 210, 190]).headline).toBe('No model predicts well; the dense model is closest');
    expect(best.details.join(' ')).not.toContain('fitted once');
  });

  it('never compares a model with itself: a fit with two names is one method, as in a study with auto', () => {
    const recall = { 'auto-30': 0.3, 'dense-30': 0.29, EASE: 0.2 };
    const results = numbers(recall, { items: [93, 99.5, 80], same: true });
    Object.assign(results.runs[0].fits[0].predictive!, { internal: { statistics: {} } });
    const prediction = studyVerdicts(results).prediction!;
    expect(prediction).toMatchObject({ winner: 'auto', headline: 'The auto = sparse model predicts better' });
    expect(predictionQuestion(results)).toBe('Which model predicts the test set better?');
    expect(prediction.text).toContain('the auto = sparse model expects 93, the dense model 80');
    const said = prediction.details.join(' ');
    expect(said).toContain('both are one fit');
    expect(said).toContain(
      'The figures of the auto = sparse model are corrected by the error of its draws on training data. Those of the dense model are as drawn.',
    );
    expect(said).not.toContain('the sparse model’s draws');
    // If a fit has two names, a correction by replicas counts under both.
    const calibration = { replicas: 9, statistics: { items: { low: 95, high: 105, held: 8, pValue: 1 } } };
    Object.assign(results.runs[0].fits[1].predictive!, { calibration });
    expect(studyVerdicts(results).prediction!.details.join(' ')).toContain(
      'the auto = sparse model’s draws contain 1 of 2 figures, all but the number of items. Corrected, they contain every figure',
    );
  });

  it('names a fit with two names once among the methods', () => {
    const recall = { 'auto-30': 0.31, 'dense-30': 0.29 };
    const { ranking } = studyVerdicts(numbers(recall, { items: [99, 99, 80], same: true }));
    expect(ranking.headline).toBe('The auto = sparse model ranks best');
    const alike = numbers(
      { 'auto-30': 0.3, 'sparse-30': 0.3, 'dense-30': 0.29 },
      { items: [1, 1, 1], sure: false },
    );
    expect(studyVerdicts(alike).ranking.headline).toMatch(/model rank best, equally well$/);
  });

  it('says so when neither predicts', () => {
    const { prediction } = studyVerdicts(numbers({ 'sparse-30': 0.3, EASE: 0.2 }, { items: [300, 250] }));
    expect(prediction!.headline).toBe('Neither model predicts well; the dense model is closer');
    expect(prediction!.text).toContain('is 100; the sparse model expects 300, the dense model 250');
  });

  it('says which figures the intervals miss', () => {
    const { prediction } = studyVerdicts(numbers({ 'sparse-30': 0.3, EASE: 0.2 }, { items: [99, 80] }));
    const text = prediction!.details.join(' ');
    expect(text).toContain('The 90 % intervals of the sparse model’s draws contain every figure');
    expect(text).toContain('contain 1 of 2 figures, all but the number of items');
  });

  it('has no sentences on predictions if nothing was drawn', () => {
    const drawn = numbers({ 'sparse-30': 0.3, EASE: 0.2 }, { items: [120, 100] });
    const undrawn = (options: StudyOptions) =>
      studyVerdicts({
        ...drawn,
        receipt: {
          ...drawn.receipt,
          settings: studySettings({ draws: 0, model: 'paper', ...options }, 1000),
        },
        runs: drawn.runs.map((run) => ({
          ...run,
          fits: run.fits.map((fit) => ({ ...fit, predictive: null })),
        })),
      });
    const { prediction, next } = undrawn({});
    expect(prediction).toBeNull();
    expect(next[0]).toEqual({
      text: 'This study drew no test graphs. To see whether the models predict the test set:',
      command: 'npx graphex study DATA -k 30 --model paper -o DIR',
    });
    expect(next[1].text).toContain('the sparse model');
    expect(undrawn({ model: 'dense' }).next[1].text).toContain('the dense model');
    // Other commands stay without draws.
    expect(next.find(({ text }) => text.startsWith('This study has one random split'))!.command).toContain(
      '--draws 0',
    );
  });

  it('claims nothing from a few test users or edges', () => {
    const recall = { 'sparse-30': 0.32, EASE: 0.3 };
    for (const test of [
      { users: 29, edges: 400 },
      { users: 50, edges: 49 },
    ]) {
      const { ranking, prediction } = studyVerdicts(numbers(recall, { test }));
      for (const verdict of [ranking, prediction]) {
        expect(verdict).toMatchObject({ winner: null, headline: 'Too little data to tell' });
        expect(verdict!.text).toContain(`With ${test.users} test users and ${test.edges} test edges`);
      }
    }
    const { ranking } = studyVerdicts(numbers(recall, { test: { users: 30, edges: 50 } }));
    expect(ranking.winner).toBe('model');
  });

  it('names commands that read the data as the study did', () => {
    const plain = numbers({ 'sparse-30': 0.2, ease: 0.3 });
    const read = { users: 'who', items: "it's", sep: '\t', header: true, multigraph: true };
    const receipt = {
      ...plain.receipt,
      settings: studySettings({ model: 'paper', seed: 7, baselines: false, users: { sigma: 0.2 } }, 1000),
      origin: { ...plain.receipt.origin, source: 'my cols.csv', read, titles: null },
    } as unknown as StudyResults['receipt'];
    const commands = studyVerdicts({ ...plain, receipt }).next.map((s) => s.command);
    const data = String.raw`'my cols.csv' --users who --items 'it'\''s' --sep '\t' --header --multi`;
    const both = '--model paper';
    const rest = '--baselines none --seed 7 --sigma-users 0.2 -o DIR';
    expect(commands).toEqual([
      `npx graphex fit ${data} -k 30 --model sparse --seed 7 --sigma-users 0.2 -o model.safetensors`,
      `npx graphex forecast ${data} --users-times 2 --seed 7 -o forecast`,
      'npx graphex audit --train TRAIN --test TEST --decision',
      `npx graphex fit ${data} --method ease --seed 7 -o ease.safetensors`,
      'npx graphex recommend ease.safetensors --user ann -n 20',
      'npx graphex serve ease.safetensors',
      `npx graphex study ${data} -k 10,30,60 ${both} ${rest}`,
      `npx graphex study ${data} -k 30 ${both} --repeats 5 ${rest}`,
      `npx graphex study ${data} --titles FILE -k 30 ${both} ${rest}`,
    ]);
  });
});
