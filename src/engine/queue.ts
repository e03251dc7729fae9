// Operations of an engine in the order of the calls, so that callers may queue several without waiting.

export interface OperationQueue {
  /** Runs the operation when all before it have ended. Its failure is its caller's to handle, and no other's. */
  inOrder<Result>(operation: () => Result | Promise<Result>): Promise<Result>;
  /** The same for one that nobody need wait for: a failure then shows at the next operation that returns something. */
  inPassing(operation: () => void | Promise<void>): Promise<void>;
  /** When all that was asked for has ended. */
  idle(): Promise<void>;
}

/** `before` runs ahead of every operation: a device that is lost says so there. */
export function createQueue(before: () => void = () => {}): OperationQueue {
  let tail: Promise<unknown> = Promise.resolve();
  const inOrder: OperationQueue['inOrder'] = (operation) => {
    const result = tail.then(() => {
      before();
      return operation();
    });
    tail = result.catch(() => {});
    return result;
  };
  return {
    inOrder,
    inPassing(operation) {
      const result = inOrder(operation);
      result.catch(() => {});
      return result;
    },
    idle: async () => {
      await tail;
    },
  };
}
