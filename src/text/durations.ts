// Spans of time as people write them: 90s, 15m, 1h, 180d.

const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Milliseconds of a span such as 90s, 15m, 1h, 180d or 2w; undefined if the text is none. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,9}(?:\.\d{1,6})?)\s?([smhdw])$/.exec(text.trim()) ?? [];
  const milliseconds = Number(number) * UNITS[unit];
  return milliseconds > 0 ? milliseconds : undefined;
}

/** A span in words of one unit: 250 ms, 42 s, 5 min, 3 h, 12 d. */
export function durationWords(milliseconds: number): string {
  for (const [unit, size] of [
    ['d', UNITS.d],
    ['h', UNITS.h],
    ['min', UNITS.m],
    ['s', 1000],
  ] as const) {
    if (milliseconds >= 2 * size) return `${Math.round(milliseconds / size)} ${unit}`;
  }
  return `${Math.round(milliseconds)} ms`;
}
