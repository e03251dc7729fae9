// Writes to standard output completely, or throws.

/** Resolves once everything is written, so that the end of the process cuts nothing off. A closed reader is not an error. */
export function writeOut(text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (!error || (error as NodeJS.ErrnoException).code === 'EPIPE') resolve();
      else reject(error);
    });
  });
}
