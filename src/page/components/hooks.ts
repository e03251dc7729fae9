import { useEffect, useState } from 'preact/hooks';
import type { ChartPair } from '../charts.js';

type Charts = typeof import('../charts.js');

/** A chart by a function of the charts' own chunk, which is fetched with the first. */
export function useChart<T = ChartPair>(
  make: (charts: Charts) => T | undefined,
  inputs: readonly unknown[],
): T | undefined {
  const [chart, setChart] = useState<T | undefined>(undefined);
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
