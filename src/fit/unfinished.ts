// A fit that ended before its end: what it rejects with carries how far it came.

import { abortReason, FitError } from '../errors.js';
import type { Checkpoint } from './loop.js';
import type { Model } from './model.js';

/** What a fit had when it was stopped, or when its state was last copied. */
export interface UnfinishedFit {
  /** To go on to the same numbers: pass it to `fit` as `resume`. */
  readonly checkpoint: Checkpoint;
  /** The model as it then was: whole, but not converged. */
  readonly model: Model;
}

/** A fit that a GPU took with it when it failed. What had been copied from it can go on. */
export class LostFitError extends FitError implements UnfinishedFit {
  readonly checkpoint: Checkpoint;
  readonly model: Model;
  constructor(message: string, { checkpoint, model }: UnfinishedFit, options?: ErrorOptions) {
    super(message, options);
    this.checkpoint = checkpoint;
    this.model = model;
  }
}

/**
 * What an aborted fit rejects with: the signal's reason, or an AbortError where none was given; `checkpoint` and `model`
 * are put on it. (A reason that several fits share has those of the last one to stop; one that is no object has none.)
 */
export function abortedFit(signal: AbortSignal, fit: UnfinishedFit): unknown {
  const reason = abortReason(signal);
  if (typeof reason === 'object' && reason !== null && Object.isExtensible(reason)) {
    for (const name of ['checkpoint', 'model'] as const) {
      // Not enumerable: whoever prints the error does not want the tables.
      Object.defineProperty(reason, name, { value: fit[name], configurable: true });
    }
  }
  return reason;
}

/** What is left of the fit that rejected with this error, where something is. */
export function unfinishedFit(error: unknown): UnfinishedFit | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { checkpoint, model } = error as Partial<UnfinishedFit>;
  return checkpoint && model ? { checkpoint, model } : undefined;
}
