/** The input is wrong: a file, a row, an option. The message says what, which value, where, and what to do. */
export class InputError extends Error {
  override readonly name = 'InputError';
}

/** A computation could not go on: a value that is not finite, a device that was lost. Says sweep, side and row. */
export class FitError extends Error {
  override readonly name = 'FitError';
}

/** The GPU is gone, full or too small; another engine could do the same work. */
export class DeviceError extends FitError {}

/** The same error with the place in front of it; anything but a FitError as it is. */
export function located(error: unknown, place: string): unknown {
  if (!(error instanceof FitError)) return error;
  const message = `${place}, ${error.message}`;
  return error instanceof DeviceError ? new DeviceError(message) : new FitError(message);
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
