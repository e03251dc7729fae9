// A fit that ended before its end: what it rejects with carries how far it came.

import type { EngineReason } from '../engine/select.js';
import { abortReason, FitError } from '../errors.js';
import type { Checkpoint, RankingCheckpoint, RankingState } from './ascent/loop.js';
import type { Model } from './model.js';

/** What a fit had when it was stopped, or when its state was last copied. */
export interface UnfinishedFit {
  /** To go on to the same numbers: pass it to `fit` as `resume`. */
  readonly checkpoint: Checkpoint;
  /** The model as it then was: whole, but not converged. */
  readonly model: Model;
  /** The engine that it was on, and why. */
  readonly engine: string;
  readonly engineReason: EngineReason;
}

const FIELDS = ['checkpoint', 'model', 'engine', 'engineReason'] as const satisfies (keyof UnfinishedFit)[];

/** A fit that a GPU took with it when it failed. What had been copied from it can go on. */
export class LostFitError extends FitError implements UnfinishedFit {
  declare readonly checkpoint: Checkpoint;
  declare readonly model: Model;
  declare readonly engine: string;
  declare readonly engineReason: EngineReason;
  constructor(message: string, fit: UnfinishedFit, options?: ErrorOptions) {
    super(message, options);
    attachFit(this, fit);
  }
}

/**
 * What an aborted fit rejects with: the signal's reason, or an AbortError where none was given; what it had
 * is put on it. (A reason that several fits share has those of the last one to stop; one that is no object has none.)
 */
export function abortedFit(signal: AbortSignal, fit: UnfinishedFit): unknown {
  const reason = abortReason(signal);
  if (typeof reason === 'object' && reason !== null && Object.isExtensible(reason)) attachFit(reason, fit);
  return reason;
}

function attachFit(error: object, fit: UnfinishedFit): void {
  for (const name of FIELDS) {
    // Not enumerable: whoever prints the error does not want the tables.
    Object.defineProperty(error, name, { value: fit[name], configurable: true });
  }
}

/** The same error with nothing to go on from: of a fit that was only a trial. */
export function withoutFit(error: unknown): unknown {
  if (error instanceof LostFitError) return error.cause;
  if (typeof error === 'object' && error !== null)
    for (const name of FIELDS) Reflect.deleteProperty(error, name);
  return error;
}

/** What is left of the fit that rejected with this error, where something is. */
export function unfinishedFit(error: unknown): UnfinishedFit | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { checkpoint, model, engine, engineReason } = error as Partial<UnfinishedFit>;
  if (!checkpoint || !model || engine === undefined || !engineReason) return undefined;
  return { checkpoint, model, engine, engineReason };
}

/** Of fits for ranking: where each stood that was under way. */
export function statesUnderWay(checkpoint: RankingState & Pick<RankingCheckpoint, 'others'>): RankingState[] {
  return [checkpoint, ...(checkpoint.others ?? [])];
}

/** Their numbers among all, from 0: the smallest that none of those done has. */
export function numbersUnderWay(checkpoint: Omit<RankingCheckpoint, 'origin'>): number[] {
  const done = new Set(checkpoint.done.map((member) => member.seed - checkpoint.seed));
  const numbers: number[] = [];
  for (let run = 0; numbers.length < statesUnderWay(checkpoint).length; run++) {
    if (!done.has(run)) numbers.push(run);
  }
  return numbers;
}
