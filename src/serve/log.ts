// One line a request, as JSON. Nothing of a request's body and no key ever goes into it.

export interface RequestRecord {
  readonly time: string;
  readonly requestId: string;
  readonly method: string;
  /** The route, not the path: ids are the client's own business. */
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
  readonly key: string | undefined;
  readonly model: string | undefined;
  /** The kind of problem, where there was one. */
  readonly problem: string | undefined;
}

/** Something that happened to the server itself. */
export interface EventRecord {
  readonly time: string;
  readonly event: 'listening' | 'ready' | 'swapped' | 'load-failed' | 'draining' | 'stopped' | 'failed';
  readonly detail: string;
}

export type LogRecord = RequestRecord | EventRecord;
