import { drawsOf, observedOf, type PredictiveCheck, STATISTICS } from '../../evaluate/predictive.js';
import { statisticValue } from '../../report/words/prediction.js';
import { statisticLabel } from '../../text/figures.js';
import { fixed } from '../../text/numbers.js';
import { names } from '../state.js';
import { type Cells, numbers } from './table.js';

export function predictionCells(check: PredictiveCheck): Cells {
  return {
    columns: [{ label: 'Statistic' }, ...numbers('test part', 'mean of draws', '90 % of draws', 'p-value')],
    rows: STATISTICS.filter((name) => check.observed[name] !== undefined).map((name) => {
      const { mean, low, high, pValue } = drawsOf(check, name);
      return [
        statisticLabel(name, names.value),
        statisticValue(name, observedOf(check, name)),
        statisticValue(name, mean),
        `${statisticValue(name, low)} … ${statisticValue(name, high)}`,
        fixed(pValue, 2),
      ];
    }),
  };
}
