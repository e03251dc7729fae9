// The two pictures of a check, drawn.

import type { SparsityCheck } from '../../sparsity/check.js';
import { drawChart } from './chart.js';
import { checkedDegreesChart } from './degrees.js';
import { densityChart } from './density.js';

interface CheckPictures {
  readonly density: string;
  readonly degrees: string;
}

export function checkPictures(document: Document, check: SparsityCheck): CheckPictures {
  return {
    density: drawChart(document, densityChart(check)),
    degrees: drawChart(document, checkedDegreesChart(check)),
  };
}
