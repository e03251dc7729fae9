import { Resvg } from '@resvg/resvg-js';
import { describe, expect, it } from 'vitest';
import type { SideForecast } from '../../src/forecast/forecast.js';
import { randomStream } from '../../src/math/random.js';
import { boundChart } from '../../src/report/charts/bound.js';
import { drawChart } from '../../src/report/charts/chart.js';
import { degreesChart } from '../../src/report/charts/degrees.js';
import { densityChart } from '../../src/report/charts/density.js';
import { growthChart } from '../../src/report/charts/growth.js';
import { escapeXml, INK } from '../../src/report/charts/ink.js';
import { rankingChart } from '../../src/report/charts/ranking.js';
import { splitChart } from '../../src/report/charts/split.js';
import { chartDocument } from '../../src/report/charts/svg-document.js';
import { checkSparsity } from '../../src/sparsity/check.js';
import type { StudySplit } from '../../src/study/results.js';
import { graphOf } from '../sample/random-graph.js';
import { numbers } from './study-numbers.js';

const document = await chartDocument();

/** Users alike, items from one edge to many. */
const random = randomStream(6);
const graph = graphOf(
  Array.from({ length: 1500 }, () => [random.below(60), Math.floor(400 * random.uniform() ** 4)] as const),
);
const check = await checkSparsity(graph, { replicates: 4 });
const density = drawChart(document, densityChart(check));
const degrees = drawChart(
  document,
  degreesChart({
    users: { histogram: check.degrees.users.histogram, fit: check.sigma.users.likelihood },
    items: { histogram: check.degrees.items.histogram, fit: check.sigma.items.likelihood },
  }),
);

describe('charts', () => {
  it('density.svg and degrees.svg look as they did', async () => {
    // An element a line, so that a difference shows a few lines and not the whole chart twice.
    for (const [name, chart] of Object.entries({ density, degrees })) {
      await expect(`${chart.replaceAll('><', '>\n<')}\n`).toMatchFileSnapshot(`snapshots/${name}.svg`);
    }
  });

  it('the picture of a split leaves room for the names of both sides, however long', () => {
    const part = { users: 5, items: 5, edges: 9 };
    const parts = { testUsers: 0.2, testItems: 0.2, train: part, foldin: part, test: part };
    const room = (users: string, items: string) => {
      const names = { users: { one: 'u', many: users }, items: { one: 'i', many: items } };
      const { width, plot } = splitChart(parts as unknown as StudySplit, names);
      const { marginLeft, marginRight } = plot as Record<'marginLeft' | 'marginRight', number>;
      return { left: marginLeft, across: width! - marginLeft - marginRight };
    };
    // Letters are 7 pixels wide on average.
    const long = room('subscriber households', 'recommended dependencies');
    expect(long.left).toBeGreaterThan(7 * 'of subscriber households'.length);
    expect(long.across).toBeGreaterThan(2 * 7 * '20 % of recommended dependencies'.length);
    expect(room('users', 'items').left).toBeLessThan(long.left);
  });

  it('has a name for the whole and none for groups, which have no role that could be named', () => {
    for (const chart of [density, degrees]) {
      expect(chart).toMatch(/<svg [^>]*role="img"/);
      expect(chart).not.toContain('aria-label');
    }
  });

  it('the progress of a fit leaves room for the labels of its axis, however long', () => {
    const room = (bound: number) => {
      const { plot } = boundChart(Array.from({ length: 8 }, (_, at) => [at, 2 * bound - at * (bound / 8)]));
      return (plot as { marginLeft: number }).marginLeft;
    };
    // Digits are 8 pixels wide, and end 9 pixels before the axis.
    expect(room(-3_881_000)).toBeGreaterThan(9 + 8 * '−3,881,000'.length);
    expect(room(-2_138_810_000)).toBeGreaterThan(9 + 8 * '−2,138,810,000'.length);
  });

  it('the names of the curves of growth begin with their strokes', () => {
    const point = (times: number) => ({ times, mean: 100 * times, low: 90 * times, high: 110 * times });
    const curve = [1, 2, 5].map((times) => ({
      ...point(times),
      estimators: { chao2: point(times + 1), power: point(times), model: point(times) },
    }));
    const drawn = drawChart(document, growthChart('items', { curve } as unknown as SideForecast));
    const names = [...drawn.matchAll(/>([^<]*(?:forecast|bound|draws)[^<]*)<\/text>/g)].map(
      ([, name]) => name,
    );
    expect(names.slice(1).sort()).toEqual([
      '- - draws from the model',
      '··· Chao2: lower bound, estimated',
      '– – power law: upper bound',
      '— forecast',
    ]);
  });

  it('each panel of the leaderboard has the scale of its own figures', () => {
    const [{ leaderboard }] = numbers({ 'sparse-30': 0.1, ease: 0.12, popularity: 0.07 }).runs;
    const rows = leaderboard.rows.map((row) => ({
      ...row,
      all: { ...row.all, ndcg: { mean: row.all.recall.mean + 0.7, standardError: 0.01 } },
    }));
    const svg = drawChart(document, rankingChart({ ...leaderboard, rows }, ['recall', 'ndcg']));
    // Both panels: the dots of 0.07 and 0.12 (0.77 and 0.82) are at the same places, and the labels between them differ.
    const dots = [...svg.matchAll(/<circle cx="([\d.]+)"/g)].map(([, x]) => Number(x));
    expect(new Set(dots).size).toBe(3);
    expect(Math.max(...dots) - Math.min(...dots)).toBeGreaterThan(80);
    for (const label of ['0.10', '0.80']) expect(svg).toContain(`>${label}</text>`);
    expect(svg).not.toContain('>0.4');
  });

  it('draws the same bytes again, in a document of its own too', async () => {
    expect(drawChart(document, densityChart(check))).toBe(density);
    const { Window } = await import('happy-dom');
    const other = new Window().document as unknown as Document;
    expect(drawChart(other, densityChart(check))).toBe(density);
  });

  it('is self-contained: valid XML that renders, with a title, a description and nothing external', () => {
    for (const svg of [density, degrees]) {
      expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^>]*role="img"/);
      expect(svg).toMatch(/<title>[^<]+<\/title><desc>[^<]+<\/desc>/);
      expect(svg).not.toMatch(/href=|url\(|NaN|undefined|Infinity/);
      const { width, height } = new Resvg(svg).render();
      expect([width, height]).toEqual([560, Number(/height="(\d+)"/.exec(svg)![1])]);
    }
  });

  it('says which side each curve tests, in that side’s colour', () => {
    const label = (colour: string) =>
      new RegExp(`fill="${colour}"[^>]*>(?:<[^>]*>)*([^<]*tested by[^<]*)<`).exec(density)?.[1];
    expect(label(INK.items.light)).toBe('items, tested by dropping users');
    expect(label(INK.users.light)).toBe('users, tested by dropping items');
  });

  it('is dark if the reader prefers dark: every colour has its counterpart', () => {
    for (const { light, dark } of [INK.users, INK.items, INK.muted]) {
      expect(density).toContain(`[fill="${light}"]{fill:${dark}}`);
    }
    expect(density).toContain('@media(prefers-color-scheme:dark)');
  });

  it('draws a graph of one edge, and one without a fitted distribution', async () => {
    const tiny = await checkSparsity(graphOf([[1, 1]]), { replicates: 0 });
    const svg = drawChart(document, densityChart(tiny));
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    const one = drawChart(
      document,
      degreesChart({
        users: { histogram: tiny.degrees.users.histogram },
        items: { histogram: tiny.degrees.items.histogram },
      }),
    );
    expect(one).not.toMatch(/NaN|undefined|Infinity/);
  });

  it('escapes what it is given', () => {
    expect(escapeXml(`<b a="1">'&`)).toBe('&#60;b a=&#34;1&#34;&#62;&#39;&#38;');
    const svg = drawChart(document, { title: '<script>', description: '&', plot: { marks: [] } });
    expect(svg).not.toContain('<script>');
    expect(() => new Resvg(svg)).not.toThrow();
  });
});
