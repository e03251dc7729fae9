/** The input is wrong: a file, a row, an option. The message says what, which value, where, and what to do. */
export class InputError extends Error {
  override readonly name = 'InputError';
}

/** A computation could not go on: a value that is not finite, a device that was lost. Says sweep, side and row. */
export class FitError extends Error {
  override readonly name = 'FitError';
}

/** The caller's AbortSignal fired. Nothing half-done is returned or left on disk. */
export class AbortError extends Error {
  override readonly name = 'AbortError';
  constructor(message = 'nothing was left half-written') {
    super(message);
  }
}

/** Throws AbortError if the signal has fired; called between blocks of work. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortError();
}
