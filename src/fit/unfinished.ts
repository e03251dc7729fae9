// A fit that was stopped or lost: the error that it rejects with carries its checkpoint and its model so far.

import type { EngineReason } from '../engine/select.js';
import { abortReason, FitError } from '../errors.js';
import type { Checkpoint, RankingCheckpoint, RankingState } from './ascent/loop.js';
import type { Model } from './model.js';

/** What a fit had when it was stopped, or when its state was last copied. */
export interface UnfinishedFit {
  /** To continue to the same numbers, pass it to `fit` as `resume`. */
  readonly checkpoint: Checkpoint;
  /** The model at that time: complete, but not converged. */
  readonly model: Model;
  /** The engine that it ran on, and why. */
  readonly engine: string;
  readonly engineReason: EngineReason;
}

const FIELDS = ['checkpoint', 'model', 'engine', 'engineReason'] as const satisfies (keyof UnfinishedFit)[];

/** A fit that was lost when a GPU failed. The last copy of its state can be resumed. */
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
 * The error of an aborted fit: the signal's reason, or an AbortError if there is none, with the checkpoint and model attached.
 * (If several fits share a reason, it carries those of the last one to stop; a reason that is not an object carries none.)
 */
export function abortedFit(signal: AbortSignal, fit: UnfinishedFit): unknown {
  const reason = abortReason(signal);
  if (typeof reason === 'object' && reason !== null && Object.isExtensible(reason)) attachFit(reason, fit);
  return reason;
}

function attachFit(error: object, fit: UnfinishedFit): void {
  for (const name of FIELDS) {
    // Not enumerable, so that printing the error does not print the tables.
    Object.defineProperty(error, name, { value: fit[name], configurable: true });
  }
}

/** The same error without a checkpoint, for a fit that was only a trial. */
export function withoutFit(error: unknown): unknown {
  if (error instanceof LostFitError) return error.cause;
  if (typeof error === 'object' && error !== null)
    for (const name of FIELDS) Reflect.deleteProperty(error, name);
  return error;
}

/**
 * The checkpoint and model of the fit that rejected with this error; undefined if it has none.
 * @example
 * import { BipartiteGraph, fit, unfinishedFit } from 'graphex';
 * const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea'], ['cleo', 'milk']]);
 * try {
 *   await fit(graph, { features: 2, signal: AbortSignal.timeout(5), tolerance: 0, iterations: 100_000 });
 * } catch (error) {
 *   const left = unfinishedFit(error); // pass left.checkpoint to fit as resume
 *   console.log(left?.model.type ?? 'it was stopped before its first sweep');
 * }
 */
export function unfinishedFit(error: unknown): UnfinishedFit | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { checkpoint, model, engine, engineReason } = error as Partial<UnfinishedFit>;
  if (!checkpoint || !model || engine === undefined || !engineReason) return undefined;
  return { checkpoint, model, engine, engineReason };
}

/** The states of all members of a ranker that were under way. */
export function statesUnderWay(checkpoint: RankingState & Pick<RankingCheckpoint, 'others'>): RankingState[] {
  return [checkpoint, ...(checkpoint.others ?? [])];
}

/** Their numbers, counted from 0: the smallest numbers that no finished member has. */
export function numbersUnderWay(checkpoint: Omit<RankingCheckpoint, 'origin'>): number[] {
  const done = new Set(checkpoint.done.map((member) => member.seed - checkpoint.seed));
  const numbers: number[] = [];
  for (let run = 0; numbers.length < statesUnderWay(checkpoint).length; run++) {
    if (!done.has(run)) numbers.push(run);
  }
  return numbers;
}
