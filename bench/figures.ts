// Draws the figures of docs/appendix/trust.md from the rows that other benches write with --rows.
//
//   npm run build && node scripts/run-ts.js bench/figures.ts [--trust FILE] [--calibration FILE]
//     [--predictive-k5 FILE] [--predictive-k30 FILE] [--out docs/figures]
//
// The files come from bench/trust.ts, bench/calibration.ts and bench/predictive.ts. A figure whose file is not given stays as it is.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Chart, drawChart } from '../src/report/charts/chart.js';
import { INK } from '../src/report/charts/ink.js';
import { chartDocument } from '../src/report/charts/svg-document.js';
import { type EcdfLine, type EcdfPanel, ecdfChart, type Rank } from './ecdf-charts.js';
import { ratesChart, ratiosChart, type TrustRow } from './trust-charts.js';

const { values } = parseArgs({
  options: {
    trust: { type: 'string' },
    calibration: { type: 'string' },
    'predictive-k5': { type: 'string' },
    'predictive-k30': { type: 'string' },
    out: { type: 'string', default: join('docs', 'figures') },
  },
});
const document = await chartDocument();

function rowsOf<Row>(file: string): Row[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
}

function write(name: string, chart: Chart): void {
  const svg = drawChart(document, chart);
  const file = join(values.out, `${name}.svg`);
  writeFileSync(file, svg);
  console.log(`${file}: ${(svg.length / 1024).toFixed(0)} KB`);
}

if (values.trust !== undefined) {
  const rows = rowsOf<TrustRow>(values.trust);
  write('trust-rates', ratesChart(rows));
  write('trust-ratios', ratiosChart(rows));
}

if (values.calibration !== undefined) {
  const rows = rowsOf<Rank & { name: string; draws: number }>(values.calibration);
  const line = (label: string, ink: string, name: string): EcdfLine => ({
    name: label,
    ink,
    ranks: rows.filter((row) => row.name === name),
  });
  const tail = 'tail index by low degrees';
  const panels: EcdfPanel[] = [
    {
      column: tail,
      row: '',
      lines: [
        line('sparse sides', INK.sparse.light, `${tail}, sparse sides`),
        line('dense sides', INK.dense.light, `${tail}, dense sides`),
      ],
    },
    { column: 'sizes', row: '', lines: [line('', INK.text.light, 'sizes, the scale taken for known')] },
    { column: 'rates of pairs', row: '', lines: [line('', INK.text.light, 'rates of pairs')] },
  ];
  write(
    'trust-calibration',
    ecdfChart(panels, {
      title: 'Calibration of estimates',
      subtitle:
        'Within the band the ranks are as uniform as chance allows; above 0 at the left: truths too often low.',
      draws: rows[0].draws,
      width: 800,
      height: 300,
    }),
  );
}

const NAMES = {
  users: 'users',
  items: 'items',
  edges: 'edges',
  sigmaUsers: 'σ̂ users',
  sigmaItems: 'σ̂ items',
} as const;
const predictive = [
  { row: 'K = 5', file: values['predictive-k5'] },
  { row: 'K = 30', file: values['predictive-k30'] },
].filter(({ file }) => file !== undefined);

if (predictive.length > 0) {
  const panels = predictive.flatMap(({ row, file }): EcdfPanel[] => {
    const rows = rowsOf<Rank & { way: string; name: string }>(file!);
    return Object.entries(NAMES).map(([name, column]) => {
      const line = (label: string, ink: string, way: string): EcdfLine => ({
        name: label,
        ink,
        ranks: rows.filter((r) => r.name === name && r.way === way),
      });
      return { row, column, lines: [line('', INK.text.light, 'default')] };
    });
  });
  write(
    'trust-predictive',
    ecdfChart(panels, {
      title: 'Calibration of predictive intervals',
      subtitle:
        'Ranks of test graphs among their draws. Below 0: draws too small; above: too large; both in turn: too narrow.',
      draws: 100,
      width: 800,
      height: 110 + 170 * predictive.length,
    }),
  );
}
