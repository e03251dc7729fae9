// What follows a flag on the command line of a benchmark, and the number among its first words.

export function flag(name: string, fallback = ''): string {
  const at = process.argv.indexOf(name);
  return at < 0 ? fallback : process.argv[at + 1];
}

/** The first word that is a whole number. */
export function leadingNumber(fallback: number): number {
  return Number(process.argv.slice(2).find((word) => /^\d+$/.test(word)) ?? fallback);
}
