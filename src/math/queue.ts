// Operations in the order of the calls, so that callers may queue several without waiting.

/** `before` runs before every operation; it throws if the device is lost. */
export function createQueue(before: () => void = () => {}) {
  let tail: Promise<unknown> = Promise.resolve();

  /** Runs the operation when all earlier ones have ended. If it fails, only its own promise rejects. */
  function inOrder<Result>(operation: () => Result | Promise<Result>): Promise<Result> {
    const result = tail.then(() => {
      before();
      return operation();
    });
    tail = result.catch(() => {});
    return result;
  }

  /** The same for an operation that no caller awaits. Its failure is reported by the next operation that returns a value. */
  function inPassing(operation: () => void | Promise<void>): Promise<void> {
    const result = inOrder(operation);
    result.catch(() => {});
    return result;
  }

  /** Resolves when all operations have ended. */
  async function idle(): Promise<void> {
    await tail;
  }

  return { inOrder, inPassing, idle };
}
