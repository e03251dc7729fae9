import { describe, expect, it } from 'vitest';
import { studyVerdicts } from '../../src/report/words/study.js';
import type { StudyResults } from '../../src/study/results.js';
import { numbers } from './study-numbers.js';

describe('which method recommends best, in words', () => {
  /** A leaderboard with its own figures by nDCG; `clear` names rows that are behind the best by more than chance. */
  function leaderboardOf(
    recall: Readonly<Record<string, number>>,
    ndcg: Readonly<Record<string, number>>,
    clear: Readonly<Record<'recall' | 'ndcg', readonly string[]>>,
  ): StudyResults {
    const results = numbers(recall, { sure: false });
    const { leaderboard } = results.runs[0];
    for (const row of leaderboard.rows)
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
    Object.assign(leaderboard, { best: { recall: best(recall), ndcg: best(ndcg) }, comparisons });
    return results;
  }
  const said = (results: StudyResults) => {
    const { ranking, next } = studyVerdicts(results);
    return [ranking.headline, next.find(({ text }) => text.startsWith('To recommend'))!.text];
  };

  it('says of a difference that rounds to zero that it is less than what is shown', () => {
    const same = numbers({ 'sparse-30': 0.32, 'dense-30': 0.32, ease: 0.3 }, { sure: false });
    const { details } = studyVerdicts(same).ranking;
    expect(details.join(' ')).toContain(
      'rank equally well (recall differs by less than 0.001, within chance)',
    );
  });

  it('advises the method of the headline if nDCG decides and recall is a tie', () => {
    const baselines = leaderboardOf(
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
      leaderboardOf(
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
      'To recommend, use the dense model, which ranks as well as any here by nDCG, on all of the data:',
    ]);
    // By nDCG, the best by recall and the ranker are both within chance of the best.
    const rankerIsEven = leaderboardOf(
      { 'sparse-30': 0.811, 'dense-30': 0.818, ranking: 0.8, ease: 0.784 },
      { 'sparse-30': 0.749, 'dense-30': 0.744, ranking: 0.745, ease: 0.705 },
      { recall: ['sparse-30', 'ranking'], ndcg: ['ease'] },
    );
    expect(said(rankerIsEven)[1]).toContain('use the dense model, which ranks as well as any here by nDCG');
    // No method is within chance of the best: the metric that decides names the winner.
    const none = leaderboardOf(
      { 'sparse-30': 0.79, 'dense-30': 0.818, ranking: 0.79, ease: 0.81 },
      { 'sparse-30': 0.749, 'dense-30': 0.7, ranking: 0.745, ease: 0.705 },
      { recall: ['sparse-30', 'ranking'], ndcg: ['ease', 'dense-30'] },
    );
    expect(said(none)[1]).toContain('use the sparse model, which ranks as well as any here by nDCG');
  });

  it('says first that lists made elsewhere rank best, if they do by more than chance', () => {
    const withLists = (low: { readonly recall: number; readonly ndcg: number }, high = 0.2) => {
      const results = leaderboardOf(
        { 'sparse-30': 0.3, ease: 0.32 },
        { 'sparse-30': 0.3, ease: 0.32 },
        { recall: ['sparse-30'], ndcg: ['sparse-30'] },
      );
      const { leaderboard } = results.runs[0];
      const [row] = leaderboard.rows;
      const comparisons = (['recall', 'ndcg'] as const).map((metric) => ({
        ...{ metric, row: 'mine', to: 'ease', level: 0.95 },
        ...{ difference: 0.1, low: low[metric], high },
      }));
      Object.assign(leaderboard, {
        rows: [...leaderboard.rows, { ...row, id: 'mine', kind: 'lists' }],
        comparisons: [...leaderboard.comparisons, ...comparisons],
      });
      return said(results);
    };
    expect(withLists({ recall: 0.05, ndcg: -0.01 })).toEqual([
      'The lists mine rank best. Of the methods fitted here: A baseline wins: EASE',
      'To recommend with graphex instead of the lists mine, which rank better, use EASE, which ranks best of the methods here, on all of the data:',
    ]);
    expect(withLists({ recall: -0.01, ndcg: -0.01 })[0]).toBe('A baseline wins: EASE');
    expect(withLists({ recall: -0.3, ndcg: -0.01 }, -0.001)[0]).toBe('A baseline wins: EASE');
  });

  it('names one per metric if no two tie by both, and for a tied place the methods that tie by both', () => {
    const apart = leaderboardOf(
      { 'sparse-30': 0.33, 'dense-30': 0.3, ease: 0.32, ials: 0.29 },
      { 'sparse-30': 0.3, 'dense-30': 0.33, ease: 0.29, ials: 0.32 },
      { recall: ['dense-30', 'ials'], ndcg: ['sparse-30', 'ease'] },
    );
    expect(said(apart)).toEqual([
      'The sparse model and EASE rank equally well by recall@20, the dense model and iALS by nDCG',
      'To recommend, use EASE, which ranks as well as any here by recall@20, on all of the data:',
    ]);
    expect(studyVerdicts(apart).ranking).toMatchObject({ winner: 'tie', method: 'sparse-30', rival: 'ease' });
    const half = leaderboardOf(
      { 'sparse-30': 0.33, 'dense-30': 0.3, ease: 0.32, ials: 0.31, slim: 0.3 },
      { 'sparse-30': 0.3, 'dense-30': 0.33, ease: 0.29, ials: 0.31, slim: 0.32 },
      { recall: ['dense-30', 'slim'], ndcg: ['sparse-30', 'ease'] },
    );
    expect(said(half)).toEqual([
      'The sparse model, EASE and iALS rank equally well by recall@20, the dense model, SLIM and iALS by nDCG',
      'To recommend, use iALS, which ranks as well as any here, on all of the data:',
    ]);
    const ranker = leaderboardOf(
      { 'sparse-30': 0.33, 'dense-30': 0.3, ranking: 0.32, ease: 0.31 },
      { 'sparse-30': 0.3, 'dense-30': 0.33, ranking: 0.32, ease: 0.31 },
      { recall: ['dense-30'], ndcg: ['sparse-30'] },
    );
    expect(said(ranker)).toEqual([
      'The ranker and EASE rank equally well',
      'To recommend, use the ranker, which ranks as well as any here, on all of the data:',
    ]);
    const wins = leaderboardOf(
      { 'sparse-30': 0.33, 'dense-30': 0.3, ranking: 0.32, ease: 0.2 },
      { 'sparse-30': 0.3, 'dense-30': 0.33, ranking: 0.32, ease: 0.2 },
      { recall: ['dense-30', 'ease'], ndcg: ['sparse-30', 'ease'] },
    );
    expect(said(wins)).toEqual([
      'The sparse model and the ranker by recall@20, the dense model and the ranker by nDCG',
      'To recommend, use the ranker, which ranks as well as any here, on all of the data:',
    ]);
  });

  it('names every method of a tie in order, and none that is worse than a method outside of it', () => {
    // The interval of the sparse model is wider than those of better rows.
    const wide = leaderboardOf(
      { 'sparse-30': 0.627, 'dense-30': 0.643, ranking: 0.642, ease: 0.625 },
      { 'sparse-30': 0.529, 'dense-30': 0.552, ranking: 0.551, ease: 0.536 },
      { recall: [], ndcg: ['ranking', 'ease'] },
    );
    expect(said(wide)).toEqual([
      'The dense model by nDCG, a tie by recall@20',
      'To recommend, use the dense model, which ranks best here by nDCG, on all of the data:',
    ]);
    const figures = { 'sparse-30': 0.35, ranking: 0.36, ease: 0.33, ials: 0.31, slim: 0.37, popularity: 0.2 };
    const headline = (clear: readonly string[]) =>
      studyVerdicts(leaderboardOf(figures, figures, { recall: clear, ndcg: clear })).ranking;
    expect(headline(['popularity'])).toMatchObject({
      headline: 'SLIM, the ranker, the sparse model, EASE and iALS rank equally well',
      method: 'ranking',
      rival: 'slim',
    });
    expect(headline([]).headline).toBe(
      'SLIM, the ranker, the sparse model, EASE and 2 other methods rank equally well',
    );
    // Of the rows after the sparse model only EASE is within chance: the ranker, which is better than EASE, ties as well.
    const gap = { 'sparse-30': 0.35, ranking: 0.34, ease: 0.33, ials: 0.31 };
    const clear = ['ranking', 'ials'];
    expect(studyVerdicts(leaderboardOf(gap, gap, { recall: clear, ndcg: clear })).ranking.headline).toBe(
      'The sparse model, the ranker and EASE rank equally well',
    );
  });

  it('advises against methods below popularity by more than chance, and never against its own advice', () => {
    const of = (clear: Readonly<Record<'recall' | 'ndcg', readonly string[]>>) => {
      const recall = { 'sparse-30': 0.2, ranking: 0.3, popularity: 0.305 };
      return leaderboardOf(recall, recall, clear);
    };
    const textOf = (results: StudyResults) => studyVerdicts(results).ranking.text;
    const even = of({ recall: ['sparse-30'], ndcg: ['sparse-30'] });
    expect(said(even)[1]).toContain('use the ranker, which ranks as well as any here');
    expect(textOf(even)).toContain(
      'The sparse model ranks below popularity, the same list for everyone: do not recommend with it. ' +
        'The ranker ranks below popularity, the same list for everyone, by a difference that may be chance.',
    );
    const clear = of({ recall: ['sparse-30', 'ranking'], ndcg: ['sparse-30', 'ranking'] });
    expect(textOf(clear)).toContain('the ranker rank below popularity, the same list for everyone: do not');
    expect(said(clear)[1]).toContain('use popularity');
    const one = of({ recall: ['sparse-30', 'ranking'], ndcg: ['sparse-30'] });
    expect(textOf(one)).toContain(
      'By recall@20, the ranker ranks below popularity, the same list for everyone. ' +
        'By nDCG, the ranker ranks below popularity, the same list for everyone, by a difference that may be chance.',
    );
    // Behind the best by more than chance, but hardly behind popularity.
    const third = { 'sparse-30': 0.29, ranking: 0.2, popularity: 0.3, ease: 0.4 };
    const all = ['sparse-30', 'ranking', 'popularity'];
    expect(textOf(leaderboardOf(third, third, { recall: all, ndcg: all }))).toContain(
      'The ranker ranks below popularity, the same list for everyone: do not recommend with it. ' +
        'The sparse model ranks below popularity, the same list for everyone, by a difference that may be chance.',
    );
    // The differences may be chance, so the advice is the model that is made for ranking.
    const few = numbers({ ranking: 0.2, popularity: 0.3 }, { test: { users: 29, edges: 400 } });
    expect(said(few)[1]).toContain('use the ranker on all');
    expect(textOf(few)).not.toContain('do not recommend');
  });

  it('advises one of the methods in the headline if metrics, models or all of them tie', () => {
    const opposed = leaderboardOf(
      { 'sparse-30': 0.35, ease: 0.3 },
      { 'sparse-30': 0.3, ease: 0.35 },
      { recall: ['ease'], ndcg: ['sparse-30'] },
    );
    expect(said(opposed)).toEqual([
      'The sparse model by recall@20, EASE by nDCG',
      'To recommend, use EASE, which ranks best here by nDCG, on all of the data:',
    ]);
    const two = leaderboardOf(
      { 'sparse-30': 0.2, ease: 0.33, ials: 0.31 },
      { 'sparse-30': 0.2, ease: 0.31, ials: 0.33 },
      { recall: ['sparse-30', 'ials'], ndcg: ['sparse-30'] },
    );
    expect(said(two)).toEqual([
      'A baseline wins: EASE by recall@20, iALS by nDCG',
      'To recommend, use EASE, which ranks best here by recall@20, on all of the data:',
    ]);
    const ranker = leaderboardOf(
      { 'sparse-30': 0.35, ranking: 0.34, ease: 0.2 },
      { 'sparse-30': 0.35, ranking: 0.34, ease: 0.2 },
      { recall: ['ease'], ndcg: ['ease'] },
    );
    expect(said(ranker)).toEqual([
      'The sparse model and the ranker rank best, equally well',
      'To recommend, use the ranker, which ranks as well as any here, on all of the data:',
    ]);
    const all = leaderboardOf(
      { 'sparse-30': 0.35, ranking: 0.34, ease: 0.33 },
      { 'sparse-30': 0.35, ranking: 0.34, ease: 0.33 },
      { recall: [], ndcg: [] },
    );
    expect(said(all)).toEqual([
      'The sparse model, the ranker and EASE rank equally well',
      'To recommend, use the ranker, which ranks as well as any here, on all of the data:',
    ]);
  });

  it('separates a difference from chance by its interval, and says if nDCG disagrees', () => {
    const results = leaderboardOf(
      { 'sparse-30': 0.811, 'dense-30': 0.821, ease: 0.784 },
      { 'sparse-30': 0.749, 'dense-30': 0.744, ease: 0.705 },
      { recall: ['sparse-30'], ndcg: [] },
    );
    expect(studyVerdicts(results).ranking.details).toContain(
      'The dense model ranks better than the sparse model in recall@20, by 0.010 (95 % interval: 0.005 to 0.015), more than chance; ' +
        'in nDCG the sparse model is ahead by 0.005 (95 % interval: −0.050 to 0.060), within chance.',
    );
    const narrow = leaderboardOf(
      { 'sparse-30': 0.3, 'dense-30': 0.3004, ease: 0.2 },
      { 'sparse-30': 0.3, 'dense-30': 0.3004, ease: 0.2 },
      { recall: ['sparse-30', 'ease'], ndcg: ['sparse-30', 'ease'] },
    );
    expect(studyVerdicts(narrow).ranking.details.join(' ')).toContain(
      'by 0.0004 (95 % interval: 0.0002 to 0.0006), more than chance',
    );
    const close = { 'sparse-30': 0.3004, ease: 0.3 };
    expect(
      studyVerdicts(leaderboardOf(close, close, { recall: ['ease'], ndcg: ['ease'] })).ranking.details,
    ).toContain(
      'In recall@20, the sparse model is ahead of EASE by 0.0004 (95 % interval on the same users: 0.0002 to 0.0006).',
    );
    const same = { 'auto-30': 0.311, 'sparse-30': 0.301, 'dense-30': 0.301, ease: 0.2 };
    const three = leaderboardOf(same, same, { recall: ['sparse-30', 'ease'], ndcg: ['sparse-30', 'ease'] });
    expect(studyVerdicts(three).ranking.details).toEqual(
      expect.arrayContaining([
        'The auto model ranks better than the sparse model in recall@20, by 0.010 (95 % interval: 0.005 to 0.015), more than chance.',
        'The auto and the dense model rank equally well: recall differs by 0.010 (95 % interval: −0.050 to 0.070), within chance.',
      ]),
    );
  });
});
