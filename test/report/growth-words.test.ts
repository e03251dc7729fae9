import { describe, expect, it } from 'vitest';
import { type AuditCheck, CHECKS, VERDICTS } from '../../src/audit/checks.js';
import type { Decision } from '../../src/audit/decision.js';
import { REFUSALS } from '../../src/forecast/backtest.js';
import type { GrowthForecast } from '../../src/forecast/forecast.js';
import { renderAuditPage } from '../../src/report/pages/audit.js';
import { auditText } from '../../src/report/terminal/audit.js';
import { auditWords, CHECK_COLUMNS, decisionWords } from '../../src/report/words/audit.js';
import {
  assumedNextWords,
  backtestWords,
  discoveryWords,
  forecastAnswer,
  modelLeftOutWords,
  nextWords,
  timeWords,
} from '../../src/report/words/forecast.js';
import { sideNames } from '../../src/text/sides.js';

const names = sideNames({ users: 'customers', items: 'products' });
const whole = (sentences: readonly (string | undefined)[]) => {
  for (const sentence of sentences) {
    expect(sentence).toMatch(/[.]$/);
    expect(sentence).not.toMatch(/undefined|NaN|Infinity|\busers?\b|\bitems?\b(?!-kNN)/);
  }
};

const record = { bias: 0.01, spread: 0.02, error: 0.024, coverage: 0.9, trials: 20 };
const test = { times: 2, trials: 20, estimators: { lowDegrees: record }, edges: record, refused: undefined };
const foreseen = { mean: 15_363.8, low: 14_850, high: 15_880 };
const side = { seen: 12_000, curve: [], backtests: [test], discoveryRate: 0.024, saturation: undefined };
const found = {
  observed: { users: 233, items: 12_323, edges: 166_374, density: 0.058 },
  asked: { users: 2, items: 1 },
  estimator: 'lowDegrees',
  forecast: {
    users: { mean: 466, low: 466, high: 466 },
    items: foreseen,
    edges: { mean: 332_748, low: 317_735, high: 348_470 },
    density: { mean: 0.04, low: 0.03, high: 0.05 },
  },
  sides: { users: side, items: side },
  modelLeftOut: 'large',
} as unknown as GrowthForecast;

describe('the words of a forecast', () => {
  it('answer the question, with digits that the forecast supports', () => {
    expect(forecastAnswer(found, names)).toBe(
      'With twice as many customers there will be about 15,360 (14,850 to 15,880) products, 25 % more than now, ' +
        'and about 332,700 (317,735 to 348,470) edges. The ranges are 90 % intervals.',
    );
    const narrow = structuredClone(found);
    for (const test of narrow.sides.items.backtests) {
      for (const one of Object.values(test.estimators)) Object.assign(one ?? {}, { coverage: 0.75 });
    }
    expect(forecastAnswer(narrow, names)).toMatch(
      /contained the truth less often, so they are too narrow\.$/,
    );
    whole([...backtestWords(found, names), modelLeftOutWords(found)]);
    expect(backtestWords(found, names)[0]).toMatch(/error of 2.4 %; .* in 18 of 20 cases/);
  });

  it.each(REFUSALS)('refuse with the reason %s', (reason) => {
    const refused = { reason, side: 'users', times: 5, error: 0.4, coverage: 0.2 } as const;
    const said = forecastAnswer(
      { ...found, forecast: undefined, asked: { users: 5, items: 1 }, refused } as GrowthForecast,
      names,
    );
    expect(said).toMatch(/^No forecast for 5 times as many customers: the back-test failed/);
    whole([said]);
  });

  it('say whether a side has a limit', () => {
    const ending = (edges: number) =>
      ({
        ...found,
        sides: { ...found.sides, items: { ...side, saturation: { all: 14_000, edges } } },
      }) as unknown as GrowthForecast;
    expect(discoveryWords(found, 'items', names)).toMatch(
      /^2.4 % of the next edges will belong to new products. The number of products shows no upper limit/,
    );
    expect(discoveryWords(ending(1), 'items', names)).toMatch(/and at least 95 % of them are seen/);
    const more = { ...ending(1), asked: { users: 1, items: 2 } };
    expect(discoveryWords(more, 'items', names)).toMatch(
      /are seen\. The forecast is for 24,646: the others must come from a new population\.$/,
    );
    expect(discoveryWords({ ...more, asked: { users: 2, items: 1.1 } }, 'items', names)).toMatch(
      /are seen\.$/,
    );
    expect(discoveryWords(ending(1e6), 'items', names)).toMatch(/after about 1,000,000 edges/);
    expect(discoveryWords(ending(1e30), 'items', names)).toMatch(
      /do not show how many products there are in all/,
    );
  });

  it('say which periods the growth of the next one is taken from', () => {
    const users = { mean: 6038, low: 5600, high: 6500 };
    const said = (past: readonly number[]) =>
      nextWords(
        {
          ...found,
          next: { period: 'quarter', days: 91, from: Date.UTC(2024, 4, 1), past, users, times: 1 },
        },
        names,
      ).join();
    expect(said([6038])).toMatch(
      /today’s 233\. The forecast is the number of the last quarter, 6,038; the first one of the data does not count, as everybody is new in it\.$/,
    );
    expect(said([5, 7])).toMatch(
      /In the last 2 quarters there were 5 and 7; the forecast is the average of these 2; the first one /,
    );
    expect(said([5, 7, 8, 8])).toMatch(/there were 5, 7, 8 and 8; the forecast is the average of these 4\.$/);
    whole([assumedNextWords(names)]);
  });

  it('say whether growth was exchangeable', () => {
    for (const exchangeable of [true, false]) {
      const tests = (['arrival', 'calendar'] as const).map((cut) => ({
        cut,
        side: 'users' as const,
        times: 2,
        until: Date.UTC(2024, 4, 1),
        seen: 9000,
        foreseen,
        actual: 12_323,
        error: 0.2,
        held: exchangeable,
      }));
      const timed = { ...found, time: { tests, exchangeable } } as GrowthForecast;
      expect(forecastAnswer(timed, names)).toMatch(
        exchangeable
          ? /90 % intervals\.$/
          : /Trust them less: 2 of 2 tests on the past were outside their intervals\.$/,
      );
      const said = timeWords(timed, names);
      expect(said.join(' ')).toMatch(/2024-05-01/);
      expect(said.at(-1)).toMatch(exchangeable ? /looks exchangeable/ : /was not exchangeable/);
      whole(said);
    }
  });
});

describe('the words of an audit', () => {
  const figures = {
    ...{
      train: 3,
      validation: 2,
      test: 100,
      chance: 0.01,
      pairs: 1000,
      held: 20,
      vertices: 100,
      byEdges: 3.2,
    },
    ...{ coins: 1, byTime: 0, zeros: 40, lost: 4, users: 2, items: 3, within: 30, least: 5, largest: 90 },
    ...{ missing: 40, piled: 0, length: 100, popularity: 0.1, neighbours: 0.2, n: 20 },
  };
  const checkFigures = (check: AuditCheck) =>
    auditWords(
      { verdict: 'fine', checks: [{ side: 'users', ...check, figures: { ...figures, ...check.figures } }] },
      names,
    ).checks[0].figures;
  const cases = CHECKS.flatMap((name) => VERDICTS.map((verdict) => [name, verdict] as const));
  it.each(cases)('of %s, %s: what was found, and what to do', (name, verdict) => {
    const one = name === 'degreeBias' || name === 'filtering' ? ('users' as const) : undefined;
    const check: AuditCheck = {
      name,
      side: one,
      value: 0.4,
      expected: 0,
      low: 0.9,
      high: 1.1,
      verdict,
      figures,
    };
    const { answer, checks } = auditWords({ verdict, checks: [check] }, names);
    const [{ title, figures: shown, words, advice }] = checks;
    whole([words]);
    expect(title).toMatch(/^[a-z]/);
    expect(shown.join()).not.toMatch(/undefined|NaN/);
    if (verdict === 'fine') expect(advice).toBeUndefined();
    else expect(advice).toMatch(/\.$/);
    whole([answer, auditWords({ verdict, checks: [] }, names).answer]);
  });

  it('show with a figure its limit, at which the verdict changes', () => {
    const lost = (value: number, expected: number) =>
      checkFigures({ name: 'lost', value, expected, verdict: 'fine', figures: {} });
    expect(lost(0.11, 0.045)).toEqual(['11 %', '4.5 %', 'up to 15 %']);
    expect(lost(0.2, 0.2)).toEqual(['20 %', '20 %', 'up to 25 %']);
    const sampled = { value: 0.53, expected: 0.23, verdict: 'fine', figures: { length: 3 } } as const;
    expect(checkFigures({ name: 'sampledCandidates', ...sampled })).toEqual([
      '53 % with 3',
      '23 %',
      'up to 90 %, or fewer than 20 pairs',
    ]);
    expect(checkFigures({ name: 'sampledCandidates', ...sampled })).toHaveLength(CHECK_COLUMNS.length - 2);
  });

  it('have enough digits to distinguish a figure from its limit', () => {
    const figures = (name: 'lost' | 'sampledCandidates' | 'timeAcross', value: number, expected = 0.2) =>
      checkFigures({ name, value, expected, verdict: 'look', figures: { length: 30 } });
    expect(figures('lost', 0.254)).toEqual(['25.4 %', '20 %', 'up to 25.0 %']);
    expect(figures('lost', 0.246)).toEqual(['24.6 %', '20 %', 'up to 25.0 %']);
    expect(figures('lost', 0.2502)).toEqual(['25.02 %', '20 %', 'up to 25.00 %']);
    expect(figures('lost', 0.25)).toEqual(['25 %', '20 %', 'up to 25 %']);
    expect(figures('lost', 0.104, 0)).toEqual(['10.4 %', '0 %', 'up to 10.0 %']);
    expect(figures('sampledCandidates', 0.903)).toEqual([
      '90.3 % with 30',
      '20 %',
      'up to 90.0 %, or fewer than 20 pairs',
    ]);
    expect(figures('timeAcross', 0.000996, 0)).toEqual(['0.0996 %', '0 %', 'below 0.1000 %']);
    expect(figures('timeAcross', 0.02, 0)).toEqual(['2 %', '0 %', 'below 0.1 %']);
    const bias = { name: 'degreeBias', expected: 1, low: 0.97, high: 1.0302, verdict: 'look' } as const;
    expect(checkFigures({ ...bias, value: 1.0304, figures: {} })[2]).toBe('0.9700 … 1.0302');
    expect(checkFigures({ ...bias, value: 1.0304, figures: {} })[0]).toBe('1.0304');
    expect(checkFigures({ ...bias, value: 1.05, figures: {} })).toEqual(['1.050', '1', '0.970 … 1.030']);
  });

  it('of a decision name the winners', () => {
    const row = (name: 'ease' | 'ranking') => ({ name, mean: 0.2, standardError: 0.01, behind: undefined });
    for (const another of ['no', 'perhaps', 'yes'] as const) {
      const said = decisionWords({
        n: 20,
        another,
        leaderboards: [
          { split: 'pq', users: 10, rows: [row('ranking')], skipped: [] },
          { split: 'edges', users: 10, rows: [row('ease')], skipped: [] },
        ],
        agreement: [{ a: 'pq', b: 'edges', tau: 0.2 }],
      } as Decision);
      expect(said).toMatch(/ranker .* and EASE/);
      expect(said).toMatch(/0\.20 \(random users and items; random pairs\)/);
    }
  });

  it('of a decision name the methods that were left out, on the terminal and on the page', () => {
    const audit = { verdict: 'fine', checks: [], parts: {}, separateUsers: true } as const;
    const skipped = [{ name: 'ease', message: 'too many products' } as const];
    const decision: Decision = {
      ...{ n: 20, agreement: [], another: 'no' },
      leaderboards: [{ split: 'pq', users: 10, rows: [], skipped }],
    };
    const page = renderAuditPage({ source: 'split', audit, decision, names, seed: 1 });
    for (const said of [page, auditText('split', audit, decision, names, [], [])]) {
      expect(said).toContain('Left out: EASE: too many products.');
      expect(said).toContain('10 customers');
    }
  });
});
