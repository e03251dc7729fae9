// What follows a flag on the command line of a benchmark.

export function flag(name: string, fallback: string): string {
  const at = process.argv.indexOf(name);
  return at < 0 ? fallback : process.argv[at + 1];
}
