import { describe, expect, it } from 'vitest';
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
      'Of a sparse and a dense model, the fits speak for the sparse one, by 42 nats',
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

  it('advises what was made for ranking wherever it wins or ties, and a model fitted to explain only where none does', () => {
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

  it('calls a model below popularity so, in both figures or in one', () => {
    const recall = { 'sparse-30': 0.2, 'dense-30': 0.19, ranking: 0.35, popularity: 0.3 };
    const { text } = studyVerdicts(numbers(recall)).ranking;
    expect(text).toContain(
      'The sparse model and the dense model rank below popularity, the same list for everyone: do not recommend with them.',
    );
    const mixed = numbers(recall);
    const [sparse] = mixed.runs[0].ladder.rows;
    Object.assign(sparse.all, { ndcg: { mean: 0.31, standardError: 0.01 } });
    expect(studyVerdicts(mixed).ranking.text).toContain(
      'By recall@20, the sparse model ranks below popularity, the same list for everyone.',
    );
    expect(studyVerdicts(numbers({ ...recall, popularity: 0.1 })).ranking.text).not.toContain(
      'popularity, the',
    );
  });

  it('claims a win only where the interval leaves out zero', () => {
    const sure = studyVerdicts(numbers({ 'sparse-30': 0.32, EASE: 0.3 })).ranking;
    expect(sure).toMatchObject({ winner: 'model', headline: 'The sparse model ranks best' });
    const unsure = studyVerdicts(numbers({ 'sparse-30': 0.32, EASE: 0.3 }, { sure: false })).ranking;
    expect(unsure).toMatchObject({ winner: 'tie', headline: 'The sparse model and EASE rank alike' });
    const both = { 'sparse-30': 0.32, 'dense-30': 0.319 };
    expect(studyVerdicts(numbers(both, { sure: false })).ranking.headline).toBe(
      'The sparse and the dense model rank best, alike',
    );
    expect(studyVerdicts(numbers(both)).ranking.headline).toBe('The sparse model ranks best');
    expect(unsure.text).toContain('may be chance');
  });

  it('says nothing about baselines where there are none', () => {
    const { ranking } = studyVerdicts(numbers({ 'sparse-30': 0.32, 'dense-30': 0.3 }));
    expect(ranking.winner).toBeNull();
    expect(ranking.text).toContain('No baseline was fitted');
  });

  it('names the model that predicts better, and by how much', () => {
    const recall = { 'sparse-30': 0.3, EASE: 0.2 };
    const sparse = studyVerdicts(numbers(recall, { items: [99, 80] })).prediction!;
    expect(sparse.winner).toBe('sparse');
    expect(sparse.text).toBe(
      'The number of items in the test part is 100; the sparse model expects 99, the dense one 80.',
    );
    expect(sparse.details.join(' ')).toContain('1.0 % too low; dense: 20.0 % too low');
    expect(studyVerdicts(numbers(recall, { items: [120, 100] })).prediction!.winner).toBe('dense');
    expect(studyVerdicts(numbers(recall, { items: [100.2, 100] })).prediction!.winner).toBe('alike');
  });

  it('names both where one model comes closest and the intervals of another hold more', () => {
    const results = numbers({ 'auto-30': 0.3, ease: 0.2 }, { items: [95.5, 98, 80] });
    const [, sparse] = results.runs[0].fits;
    Object.assign(sparse.predictive!.draws.items!, { low: 97, high: 99 });
    expect(studyVerdicts(results).prediction).toMatchObject({
      winner: 'sparse',
      headline: 'The sparse model comes closest; the auto model’s intervals hold more',
    });
  });

  it('compares three models: the closest, those that are even', () => {
    const recall = { 'auto-30': 0.3, 'sparse-30': 0.3, 'dense-30': 0.29, EASE: 0.2 };
    const of = (items: readonly number[]) => studyVerdicts(numbers(recall, { items })).prediction!;
    const best = of([99, 96, 80]);
    expect(best).toMatchObject({ winner: 'auto', headline: 'The auto model predicts best' });
    expect(best.text).toBe(
      'The number of items in the test part is 100; the auto model expects 99, the sparse one 96, the dense one 80.',
    );
    expect(best.details).toContain(
      'The auto model is closest in the number of items (1.0 % too low; sparse: 4.0 % too low; dense: 20.0 % too low).',
    );
    expect(of([80, 99, 96])).toMatchObject({ winner: 'sparse', headline: 'The sparse model predicts best' });
    expect(of([99, 99.2, 80])).toMatchObject({
      winner: 'auto',
      headline: 'The auto and the sparse model predict best, alike',
    });
    expect(of([100, 100.2, 99.8])).toMatchObject({ winner: 'alike', headline: 'All three predict alike' });
    expect(of([200, 210, 190]).headline).toBe('None predicts well; the dense model is closest');
    expect(best.details.join(' ')).not.toContain('fitted once');
  });

  it('never judges between a model and itself: a fit with two names is one contestant, as auto is judged', () => {
    const recall = { 'auto-30': 0.3, 'dense-30': 0.29, EASE: 0.2 };
    const results = numbers(recall, { items: [93, 99.5, 80], same: true });
    Object.assign(results.runs[0].fits[0].predictive!, { internal: { statistics: {} } });
    const prediction = studyVerdicts(results).prediction!;
    expect(prediction).toMatchObject({ winner: 'auto', headline: 'The auto = sparse model predicts better' });
    expect(predictionQuestion(results)).toBe('Which model predicts the test set better?');
    expect(prediction.text).toContain('the auto = sparse model expects 93, the dense one 80');
    const said = prediction.details.join(' ');
    expect(said).toContain('they were fitted once');
    expect(said).toContain(
      'The figures of the auto = sparse model are corrected by what such draws miss on data that training knows; those of the dense model are as drawn.',
    );
    expect(said).not.toContain('the sparse model’s draws');
    // What replicas say of a fit holds under each of its names.
    const calibration = { replicas: 9, statistics: { items: { low: 95, high: 105, held: 8, pValue: 1 } } };
    Object.assign(results.runs[0].fits[1].predictive!, { calibration });
    expect(studyVerdicts(results).prediction!.details.join(' ')).toContain(
      'the auto = sparse model’s draws contain 1 of 2 figures, all but the number of items; corrected, every figure',
    );
  });

  /** A ladder with its own figures by nDCG; `clear` names rows that are behind the best by more than chance. */
  function ladderOf(
    recall: Readonly<Record<string, number>>,
    ndcg: Readonly<Record<string, number>>,
    clear: Readonly<Record<'recall' | 'ndcg', readonly string[]>>,
  ): StudyResults {
    const results = numbers(recall, { sure: false });
    const { ladder } = results.runs[0];
    for (const row of ladder.rows)
      Object.assign(row.all, { ndcg: { mean: ndcg[row.id], standardError: 0.01 } });
    const best = (of: Readonly<Record<string, number>>) =>
      Object.keys(of).reduce((a, b) => (of[b] > of[a] ? b : a));
    const comparisons = (['recall', 'ndcg'] as const).flatMap((metric) => {
      const of = { recall, ndcg }[metric];
      const to = best(of);
      return Object.keys(of)
        .filter((row) => row !== to)
        .map((row) => {
          const difference = of[row] - of[to];
          const half = clear[metric].includes(row) ? -difference / 2 : 0.05 - difference;
          return {
            metric,
            row,
            to,
            difference,
            low: difference - half,
            high: difference + half,
            level: 0.95,
          };
        });
    });
    Object.assign(ladder, { best: { recall: best(recall), ndcg: best(ndcg) }, comparisons });
    return results;
  }
  const said = (results: StudyResults) => {
    const { ranking, next } = studyVerdicts(results);
    return [ranking.headline, next.find(({ text }) => text.startsWith('To recommend'))!.text];
  };

  it('advises the method of the headline where nDCG decides and recall is a tie', () => {
    const baselines = ladderOf(
      { 'sparse-30': 0.3, ease: 0.32, ials: 0.31 },
      { 'sparse-30': 0.3, ease: 0.35, ials: 0.37 },
      { recall: [], ndcg: ['sparse-30', 'ease'] },
    );
    expect(said(baselines)).toEqual([
      'iALS by nDCG, a tie by recall@20',
      'To recommend, use iALS, which ranks best here by nDCG, on all of the data:',
    ]);
    expect(studyVerdicts(baselines).ranking).toMatchObject({
      winner: 'baseline',
      method: 'ials',
      rival: 'ials',
    });
    const models = (ndcg: readonly string[]) =>
      ladderOf(
        { 'sparse-30': 0.811, 'dense-30': 0.818, ease: 0.784 },
        { 'sparse-30': 0.749, 'dense-30': 0.744, ease: 0.705 },
        { recall: ['sparse-30'], ndcg },
      );
    expect(said(models(['ease', 'dense-30']))).toEqual([
      'The sparse model by nDCG, a tie by recall@20',
      'To recommend, use the sparse model, which ranks best here by nDCG, on all of the data:',
    ]);
    expect(said(models(['ease']))).toEqual([
      'The sparse and the dense model by nDCG, a tie by recall@20',
      'To recommend, use the sparse model, which ranks as well as any here by nDCG, on all of the data:',
    ]);
  });

  it('advises one of those that the headline names where metrics, models or all of them are even', () => {
    const opposed = ladderOf(
      { 'sparse-30': 0.35, ease: 0.3 },
      { 'sparse-30': 0.3, ease: 0.35 },
      { recall: ['ease'], ndcg: ['sparse-30'] },
    );
    expect(said(opposed)).toEqual([
      'The sparse model by recall@20, EASE by nDCG',
      'To recommend, use EASE, which ranks best here by nDCG, on all of the data:',
    ]);
    const two = ladderOf(
      { 'sparse-30': 0.2, ease: 0.33, ials: 0.31 },
      { 'sparse-30': 0.2, ease: 0.31, ials: 0.33 },
      { recall: ['sparse-30', 'ials'], ndcg: ['sparse-30'] },
    );
    expect(said(two)).toEqual([
      'A baseline wins: EASE by recall@20, iALS by nDCG',
      'To recommend, use EASE, which ranks best here by recall@20, on all of the data:',
    ]);
    const ranker = ladderOf(
      { 'sparse-30': 0.35, ranking: 0.34, ease: 0.2 },
      { 'sparse-30': 0.35, ranking: 0.34, ease: 0.2 },
      { recall: ['ease'], ndcg: ['ease'] },
    );
    expect(said(ranker)).toEqual([
      'The sparse model and the fit for ranking rank best, alike',
      'To recommend, use the fit for ranking, which ranks as well as any here, on all of the data:',
    ]);
    const all = ladderOf(
      { 'sparse-30': 0.35, ranking: 0.34, ease: 0.33 },
      { 'sparse-30': 0.35, ranking: 0.34, ease: 0.33 },
      { recall: [], ndcg: [] },
    );
    expect(said(all)).toEqual([
      'The sparse model, the fit for ranking and EASE rank alike',
      'To recommend, use the fit for ranking, which ranks as well as any here, on all of the data:',
    ]);
  });

  it('tells a difference from chance by its interval, and where nDCG says the opposite', () => {
    const results = ladderOf(
      { 'sparse-30': 0.811, 'dense-30': 0.821, ease: 0.784 },
      { 'sparse-30': 0.749, 'dense-30': 0.744, ease: 0.705 },
      { recall: ['sparse-30'], ndcg: [] },
    );
    expect(studyVerdicts(results).ranking.details).toContain(
      'The dense model ranks better than the sparse one in recall@20, by 0.010 (95 % interval: 0.005 to 0.015), more than chance; ' +
        'in nDCG the sparse one is ahead, by 0.005 (95 % interval: −0.050 to 0.060), within chance.',
    );
    const narrow = ladderOf(
      { 'sparse-30': 0.3, 'dense-30': 0.3004, ease: 0.2 },
      { 'sparse-30': 0.3, 'dense-30': 0.3004, ease: 0.2 },
      { recall: ['sparse-30', 'ease'], ndcg: ['sparse-30', 'ease'] },
    );
    expect(studyVerdicts(narrow).ranking.details.join(' ')).toContain(
      'by 0.0004 (95 % interval: 0.0002 to 0.0006), more than chance',
    );
    const same = { 'auto-30': 0.311, 'sparse-30': 0.301, 'dense-30': 0.301, ease: 0.2 };
    const three = ladderOf(same, same, { recall: ['sparse-30', 'ease'], ndcg: ['sparse-30', 'ease'] });
    expect(studyVerdicts(three).ranking.details).toEqual(
      expect.arrayContaining([
        'The auto model ranks better than the sparse one in recall@20, by 0.010 (95 % interval: 0.005 to 0.015), more than chance.',
        'The auto and the dense model rank alike: recall differs by 0.010 (95 % interval: −0.050 to 0.070), within chance.',
      ]),
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
    expect(studyVerdicts(alike).ranking.headline).toMatch(/model rank best, alike$/);
  });

  it('says so when neither predicts', () => {
    const { prediction } = studyVerdicts(numbers({ 'sparse-30': 0.3, EASE: 0.2 }, { items: [300, 250] }));
    expect(prediction!.headline).toBe('Neither predicts well; the dense model is closer');
    expect(prediction!.text).toContain('is 100; the sparse model expects 300, the dense one 250');
  });

  it('says which figures the intervals miss', () => {
    const { prediction } = studyVerdicts(numbers({ 'sparse-30': 0.3, EASE: 0.2 }, { items: [99, 80] }));
    const text = prediction!.details.join(' ');
    expect(text).toContain('The 90 % intervals of the sparse model’s draws contain every figure');
    expect(text).toContain('contain 1 of 2 figures, all but the number of items');
  });

  it('has no words on predictions where nothing was drawn', () => {
    const drawn = numbers({ 'sparse-30': 0.3, EASE: 0.2 }, { items: [120, 100] });
    const undrawn = (options: StudyOptions) =>
      studyVerdicts({
        ...drawn,
        receipt: { ...drawn.receipt, settings: studySettings({ draws: 0, model: 'both', ...options }, 1000) },
        runs: drawn.runs.map((run) => ({
          ...run,
          fits: run.fits.map((fit) => ({ ...fit, predictive: null })),
        })),
      });
    const { prediction, next } = undrawn({});
    expect(prediction).toBeNull();
    expect(next[0]).toEqual({
      text: 'Nothing was drawn from the models. To see whether they predict the test set:',
      command: 'npx graphex study DATA -k 30 --model both -o DIR',
    });
    expect(next[1].text).toContain('the sparse model');
    expect(undrawn({ model: 'dense' }).next[1].text).toContain('the dense model');
    // Other commands stay without draws.
    expect(next.find(({ text }) => text.startsWith('One split'))!.command).toContain('--draws 0');
  });

  it('judges nobody by a handful of test users or edges', () => {
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
      settings: studySettings({ model: 'both', seed: 7, baselines: false, users: { sigma: 0.2 } }, 1000),
      origin: { ...plain.receipt.origin, source: 'my cols.csv', read, titles: null },
    } as unknown as StudyResults['receipt'];
    const commands = studyVerdicts({ ...plain, receipt }).next.map((s) => s.command);
    const data = String.raw`'my cols.csv' --users who --items 'it'\''s' --sep '\t' --header --multi`;
    const both = '--model both';
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
