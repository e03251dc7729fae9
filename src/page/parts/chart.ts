import { useEffect, useState } from 'preact/hooks';
import type { Chart } from '../charts.js';

type Charts = typeof import('../charts.js');

/** A chart by a function of the charts' own chunk, which is fetched with the first. */
export function useChart(
  make: (charts: Charts) => Chart | undefined,
  inputs: readonly unknown[],
): Chart | undefined {
  const [chart, setChart] = useState<Chart | undefined>(undefined);
  useEffect(() => {
    let gone = false;
    void import('../charts.js').then((charts) => {
      if (!gone) setChart(make(charts));
    });
    return () => {
      gone = true;
    };
  }, [...inputs]);
  return chart;
}
