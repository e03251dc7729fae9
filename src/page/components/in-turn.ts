let last: Promise<unknown> = Promise.resolve();

/** One piece of work at a time, each in a task of its own: in between the page answers. */
export function inTurn<T>(work: () => T): Promise<T> {
  const done = last.then(() => new Promise((resolve) => setTimeout(resolve))).then(work);
  last = done.catch(() => undefined);
  return done;
}
