import { beforeAll, expect, test } from 'vitest';
import type { PredictiveCheck } from '../../src/evaluate/predictive.js';
import { type Chart, drawChart } from '../../src/report/charts/chart.js';
import { predictionPair } from '../../src/report/charts/narrow.js';
import { predictiveChart } from '../../src/report/charts/predictive.js';
import { chartDocument } from '../../src/report/charts/svg-document.js';
import type { CheckedFit } from '../../src/study/results.js';

let document: Document;
beforeAll(async () => {
  document = await chartDocument();
});

const draws = { mean: 101, low: 80, high: 140, pValue: 0.5 };
const figures = { users: 100, items: 100, edges: 100 };
const predictive = {
  observed: figures,
  draws: { users: draws, items: draws, edges: draws },
} as unknown as PredictiveCheck;
const fits = [
  { model: 'auto', predictive },
  { model: 'sparse', predictive },
] as unknown as CheckedFit[];

/** Where the names of the models and the intervals stand. */
function placed(chart: Chart) {
  const svg = drawChart(document, chart);
  const place = 'transform="translate\\(([-.\\d]+),([-.\\d]+)\\)"';
  const name = new RegExp(`<g [^>]*${place}><text [^>]*${place}>(the [\\w ]+ one)<`, 'g');
  const names = [...svg.matchAll(name)].map(([, dx, dy, x, y, text]) => ({
    text,
    x: Number(dx) + Number(x),
    y: Number(dy) + Number(y),
  }));
  const bars = [...svg.matchAll(/<line x1="[^"]*" x2="[^"]*" y1="([^"]*)"/g)].map(([, y]) => Number(y));
  expect(bars.length).toBeGreaterThan(5);
  return { names, bars };
}

test('models have the given names, above all intervals and next to each other', () => {
  const { wide, narrow } = predictionPair(fits, { title: (kind) => `the ${kind} one` });
  for (const chart of [wide, ...narrow]) {
    const { names, bars } = placed(chart);
    expect(names.map(({ text }) => text)).toEqual(['the auto one', 'the sparse one']);
    // Bold letters of 14 pixels take some 8 each.
    expect(names[1].x - names[0].x).toBeGreaterThan(8 * 'the auto one'.length);
    for (const { y } of names) expect(y).toBeLessThan(Math.min(...bars) - 4);
  }
});

test('the names of models end within their chart, however long they and those of the sides are', () => {
  const names = {
    users: { one: 'manufacturing organisation', many: 'manufacturing organisations' },
    items: { one: 'recommended dependency', many: 'recommended dependencies' },
  };
  const three = [...fits, { model: 'dense', predictive }] as unknown as CheckedFit[];
  for (const [word, rows] of [
    ['', 1],
    ['carefully fitted ', 3],
  ] as const) {
    const { wide, narrow } = predictionPair(three, { names, title: (kind) => `the ${word}${kind} one` });
    for (const chart of [wide, ...narrow]) {
      const { names: found, bars } = placed(chart);
      expect(found).toHaveLength(3);
      for (const { text, x, y } of found) {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x + 8 * text.length).toBeLessThanOrEqual(chart.width!);
        expect(y).toBeLessThan(Math.min(...bars) - 4);
        expect(y).toBeGreaterThan(0);
      }
      const heights = new Set(found.map(({ y }) => y));
      if (chart !== wide) expect(heights.size).toBe(rows);
      // Letters of 14 pixels need as many from row to row.
      const steps = [...heights].map((y, at, all) => (at === 0 ? 14 : y - all[at - 1]));
      expect(Math.min(...steps)).toBeGreaterThanOrEqual(14);
    }
  }
});

test('a line under the title that is longer than its chart wraps', () => {
  const bins = [{ from: 1, to: 1, observed: 3, low: 1, median: 3, high: 9 }];
  const chart = predictiveChart([{ name: 'm', kind: 'auto', degrees: { users: bins, items: bins } }]);
  const rows = (width: number) => {
    const svg = drawChart(document, { ...chart, width });
    const found = [...svg.matchAll(/class="subtitle"[^>]*y="(\d+)"[^>]*>([^<]*)</g)];
    const height = Number(/ height="(\d+)"/.exec(svg)![1]);
    return { y: found.map(([, y]) => Number(y)), words: found.map(([, , text]) => text), height };
  };
  const wide = rows(800);
  expect(wide.words).toEqual([chart.subtitle]);
  const small = rows(500);
  expect(small.words.join(' ')).toBe(chart.subtitle);
  expect(small.y).toEqual([40, 60]);
  expect(small.height).toBe(wide.height + 20);
  for (const words of small.words) expect(7.4 * words.length).toBeLessThan(500 - 12);
});

test('a bar far longer than the others is clipped, with an arrow, its mean and a note', () => {
  const far = { mean: 300, low: 250, high: 340, pValue: 0 };
  const wrong = {
    observed: figures,
    draws: { users: draws, items: far, edges: { mean: 101, low: 80, high: 200, pValue: 0.5 } },
  } as unknown as PredictiveCheck;
  const two = [fits[0], { model: 'dense', predictive: wrong }] as unknown as CheckedFit[];
  const { wide, narrow } = predictionPair(two, {});
  for (const chart of [wide, ...narrow]) {
    expect(chart.subtitle).toContain('Arrows: clipped at ±100\u00a0%.');
    expect(chart.description).toContain('items 200.0 % too high');
    const svg = drawChart(document, chart);
    expect(svg).toContain('>mean +200<');
    expect(svg.match(/rotate\(90\)/g)).toHaveLength(1);
    for (const [, x1, x2] of svg.matchAll(/<line x1="([^"]*)" x2="([^"]*)"/g)) {
      expect(Math.max(Number(x1), Number(x2))).toBeLessThan(chart.width!);
    }
  }
  expect(predictionPair(fits, {}).wide.subtitle).not.toContain('clipped');
});
