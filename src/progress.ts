/** One report of how far a long task is; the command line draws it, the library never prints. */
export interface Progress {
  /** What is going on, in a word or two: 'reading', 'fitting sparse', 'drawing'. */
  readonly stage: string;
  /** Units done so far. */
  readonly done: number;
  /** Units in all, if known. */
  readonly total?: number | undefined;
  /** Units that the stage is likely to take, if it may end before `total`. */
  readonly expected?: number | undefined;
  /** The unit, plural: 'rows', 'iterations', 'draws', 'bytes'. */
  readonly unit?: string | undefined;
  /** For a task in several steps: the current step, from 1, and the seconds since the first step started. */
  readonly overall?: { readonly step: number; readonly steps: number; readonly seconds: number } | undefined;
  /** A short note shown after the bar, for instance the bound. */
  readonly note?: string | undefined;
}

/** What every long function takes. */
export interface TaskOptions {
  /** Called now and then; must return quickly. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Ends the task: it rejects with the signal's reason, or with an AbortError if there is none. */
  readonly signal?: AbortSignal | undefined;
  /** Worker threads; default: all cores. Never changes a result. */
  readonly threads?: number | undefined;
}
