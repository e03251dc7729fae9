import { useEffect, useState } from 'preact/hooks';
import type { ChartPair } from '../charts.js';

type Charts = typeof import('../charts.js');

/** A chart made by a function of charts.ts, which is fetched with the first chart. */
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

/** Whether the user prefers dark colours, now. */
export function useDark(): boolean {
  const query = window.matchMedia('(prefers-color-scheme: dark)');
  const [dark, setDark] = useState(query.matches);
  useEffect(() => {
    const follow = () => setDark(query.matches);
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  }, []);
  return dark;
}
