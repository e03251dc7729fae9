/** The input is wrong: a file, a row, an option. The message says what, which value, where, and what to do. */
export class InputError extends Error {
  override readonly name = 'InputError';
}

/** A computation cannot continue: a value is not finite, or a device was lost. The message names sweep, side and row. */
export class FitError extends Error {
  override readonly name = 'FitError';
}

/** The GPU is gone, full or too small; another engine could do the same work. */
export class DeviceError extends FitError {}

/** The same error with the place before its message; any error but a FitError is returned unchanged. */
export function located(error: unknown, place: string): unknown {
  if (!(error instanceof FitError)) return error;
  const message = `${place}, ${error.message}`;
  return error instanceof DeviceError ? new DeviceError(message) : new FitError(message);
}

/** The caller's AbortSignal fired. Nothing half-done is returned or left on disk. */
export class AbortError extends Error {
  override readonly name = 'AbortError';
  constructor(message = 'nothing was left half-written', options?: ErrorOptions) {
    super(message, options);
  }
}

/** The error of a long function whose signal has fired: the signal's reason, or an AbortError if there is none. */
export function abortReason(signal: AbortSignal): unknown {
  const { reason } = signal;
  return reason === undefined || isPlainAbort(reason) ? new AbortError() : reason;
}

/** The reason of `controller.abort()` without an argument. */
function isPlainAbort(reason: unknown): boolean {
  return (
    typeof DOMException !== 'undefined' && reason instanceof DOMException && reason.name === 'AbortError'
  );
}

/** Throws the signal's reason if it has fired; called between blocks of work. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortReason(signal);
}

/** Error classes that callers distinguish: ours, each before the class it extends, and those of the language. */
const CLASSES = {
  InputError,
  DeviceError,
  FitError,
  AbortError,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
  Error,
} as const;
type Kind = keyof typeof CLASSES;
const KINDS = Object.keys(CLASSES) as Kind[];

/** An error as a plain value, which threads can exchange. */
export interface PackedError {
  readonly kind: Kind;
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: PackedError | undefined;
}

/** The longest chain of causes; a longer one may be a cycle. */
const MOST_CAUSES = 8;

export function packError(thrown: unknown, depth = 0): PackedError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { name, message, stack, cause } = error;
  return {
    kind: KINDS.find((kind) => error instanceof CLASSES[kind]) ?? 'Error',
    name,
    message,
    stack,
    cause: cause === undefined || depth === MOST_CAUSES ? undefined : packError(cause, depth + 1),
  };
}

/** The error with its class and its cause restored. */
export function unpackError({ kind, name, message, stack, cause }: PackedError): Error {
  const error = new CLASSES[kind](message, cause && { cause: unpackError(cause) });
  if (error.name !== name) Object.defineProperty(error, 'name', { value: name });
  if (stack !== undefined) error.stack = stack;
  return error;
}
