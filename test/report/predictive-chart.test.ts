import { beforeAll, expect, test } from 'vitest';
import type { DegreeBin } from '../../src/evaluate/predictive.js';
import { drawChart } from '../../src/report/charts/chart.js';
import { predictiveChart } from '../../src/report/charts/predictive.js';
import { chartDocument } from '../../src/report/charts/svg-document.js';

let document: Document;
beforeAll(async () => {
  document = await chartDocument();
});

const bins = (observed: number[]): DegreeBin[] =>
  observed.map((value, i) => ({
    from: 2 ** i,
    to: 2 ** (i + 1) - 1,
    observed: value,
    low: i < 4 ? 100 / 2 ** i : 0,
    median: 110 / 2 ** i,
    high: 120 / 2 ** i,
  }));
const panel = (name: string, kind: 'sparse' | 'dense', observed: number[]) => ({
  name,
  kind,
  degrees: { users: bins(observed), items: bins(observed) },
});

test('a panel for each model and side; dots outside the band are hollow', () => {
  const inside = [110, 55, 28, 13, 6, 0];
  const chart = predictiveChart([
    panel('sparse model', 'sparse', inside),
    panel('dense model', 'dense', [300, 55, 28, 13, 6, 0]),
  ]);
  expect(chart.description).toBe(
    'sparse model: the test graph lies within the band in 5 of 5 bins of the users and 5 of 5 bins of the items. ' +
      'dense model: the test graph lies within the band in 4 of 5 bins of the users and 4 of 5 bins of the items.',
  );
  const svg = drawChart(document, chart);
  expect(svg).toContain('sparse model');
  expect(svg).toContain('dense model');
  // 5 bins with vertices in each of 4 panels.
  expect(svg.match(/<circle/g)?.length).toBe(20);
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  expect(drawChart(document, chart)).toBe(svg);
});

test('one model, one bin: still a picture', () => {
  const svg = drawChart(document, predictiveChart([panel('sparse', 'sparse', [3])]));
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  expect(svg.match(/<circle/g)?.length).toBe(2);
});
