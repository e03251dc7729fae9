// What goes to standard output, whole or with an error.

/** Resolves once the reader has it all, so that ending the process cuts nothing off. A reader that left is no error. */
export function writeOut(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (!error || (error as NodeJS.ErrnoException).code === 'EPIPE') resolve();
      else reject(error);
    });
  });
}
