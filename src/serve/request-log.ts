// Every answer is counted, timed and logged as one JSON line. A request's body and its key never enter the log.

import type { Generation } from './generation.js';
import { Metrics } from './metrics.js';

/** What is recorded of one request: route, status, time, name of the key; never a body. */
export interface RequestRecord {
  readonly time: string;
  readonly requestId: string;
  readonly method: string;
  /** The route, not the path: a path may hold ids. */
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
  readonly key: string | undefined;
  readonly model: string | undefined;
  /** The kind of problem, if the request failed. */
  readonly problem: string | undefined;
}

/** An event of the server itself. */
export interface EventRecord {
  readonly time: string;
  readonly event:
    | 'listening'
    | 'ready'
    | 'swapped'
    | 'warning'
    | 'load-failed'
    | 'draining'
    | 'stopped'
    | 'failed'
    | 'store'
    | 'store-failed'
    | 'refit'
    | 'refit-failed';
  readonly detail: string;
}

/** A line of the server's log: a request or an event. */
export type LogRecord = RequestRecord | EventRecord;

export type RequestLog = ReturnType<typeof createRequestLog>;

export function createRequestLog(current: () => Generation | undefined, log: (record: LogRecord) => void) {
  const metrics = new Metrics();
  const requests = metrics.counter('graphex_requests_total', 'Requests by route and status.');
  const seconds = metrics.histogram('graphex_request_seconds', 'Time to answer, by route and status.');
  metrics.gauge('graphex_waiting', 'Requests in the queue.', () => current()?.queue.waiting);
  metrics.gauge('graphex_working', 'Requests that are being computed.', () => current()?.queue.working);
  metrics.gauge('graphex_model_info', 'The current model.', () => {
    const info = current()?.info;
    return info ? [{ labels: { hash: info.hash, kind: info.kind }, value: 1 }] : [];
  });
  metrics.gauge(
    'graphex_model_age_seconds',
    'Seconds since the file of the current model was written; a restart does not change it.',
    () => {
      const model = current();
      return model && (Date.now() - model.written) / 1000;
    },
  );
  metrics.gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  metrics.gauge(
    'nodejs_heap_size_used_bytes',
    'Memory of JavaScript values of the main thread.',
    () => process.memoryUsage().heapUsed,
  );

  return {
    /** Where others add what they count. */
    counters: metrics,
    record(answer: Omit<RequestRecord, 'time'>): void {
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
    /** All counts in Prometheus' text format. */
    metrics: () => metrics.text(),
  };
}

export function answerHeaders(requestId: string, close: boolean): Record<string, string> {
  return {
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...(close && { connection: 'close' }),
  };
}
