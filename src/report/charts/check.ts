// The two pictures of a check, drawn.

import type { SparsityCheck } from '../../sparsity/check.js';
import { drawChart } from './chart.js';
import { degreesChart } from './degrees.js';
import { densityChart } from './density.js';

interface CheckPictures {
  readonly density: string;
  readonly degrees: string;
}

export function checkPictures(document: Document, check: SparsityCheck): CheckPictures {
  const { degrees, sigma, names } = check;
  const sides = {
    users: { histogram: degrees.users.histogram, fit: sigma.users.likelihood },
    items: { histogram: degrees.items.histogram, fit: sigma.items.likelihood },
  };
  return {
    density: drawChart(document, densityChart(check)),
    degrees: drawChart(document, degreesChart(sides, names)),
  };
}
