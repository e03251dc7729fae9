// Every answer leaves a record: counts and times for whoever watches, a line in the log.

import type { Generation } from './generation.js';
import type { LogRecord, RequestRecord } from './log.js';
import { Metrics } from './metrics.js';

export interface Recorder {
  record(answer: Omit<RequestRecord, 'time'>): void;
  /** All there is to count, in Prometheus' text format. */
  metrics(): string;
}

export function createRecorder(
  current: () => Generation | undefined,
  log: (record: LogRecord) => void,
): Recorder {
  const registry = new Metrics();
  const requests = registry.counter('graphex_requests_total', 'Requests by route and status.');
  const seconds = registry.histogram('graphex_request_seconds', 'Time to answer, by route and status.');
  const queue = (read: (generation: Generation) => number) => () => {
    const generation = current();
    return generation ? [{ labels: {}, value: read(generation) }] : [];
  };
  registry.gauge(
    'graphex_waiting',
    'Requests that wait.',
    queue((g) => g.queue.waiting),
  );
  registry.gauge(
    'graphex_working',
    'Requests that are being computed.',
    queue((g) => g.queue.working),
  );
  registry.gauge('graphex_model_info', 'The model that answers.', () => {
    const info = current()?.info;
    return info ? [{ labels: { hash: info.hash, kind: info.kind }, value: 1 }] : [];
  });
  registry.gauge('process_resident_memory_bytes', 'Resident memory.', () => [
    { labels: {}, value: process.memoryUsage.rss() },
  ]);
  return {
    record(answer) {
      const { route, method, status, milliseconds } = answer;
      const labels = { route, method, status: String(status) };
      requests.add(labels);
      seconds.observe(labels, milliseconds / 1000);
      log({
        time: new Date().toISOString(),
        ...answer,
        milliseconds: Math.round(milliseconds * 1000) / 1000,
      });
    },
    metrics: () => registry.text(),
  };
}

/** Headers that every answer carries; one that says itself how long it may be kept goes on saying so. */
export function answerHeaders(requestId: string, draining: boolean): [string, string][] {
  return [
    ['x-request-id', requestId],
    ['x-content-type-options', 'nosniff'],
    ['cache-control', 'no-store'],
    ...(draining ? ([['connection', 'close']] as [string, string][]) : []),
  ];
}
