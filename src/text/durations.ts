// Spans of time as people write them: 90s, 15m, 1h, 180d.

const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Milliseconds of a span such as 90s, 15m, 1h, 180d or 2w; undefined if the text is not a span. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,9}(?:\.\d{1,6})?)\s?([smhdw])$/.exec(text.trim()) ?? [];
  const milliseconds = Number(number) * UNITS[unit];
  return milliseconds > 0 ? milliseconds : undefined;
}

/** A span as people write it: 36h, 115d, 2.5y. */
export function durationWords(milliseconds: number): string {
  const steps = [
    ['y', 365.25 * UNITS.d],
    ['d', UNITS.d],
    ['h', UNITS.h],
    ['m', UNITS.m],
    ['s', UNITS.s],
  ] as const;
  const [unit, size] = steps.find(([, one]) => milliseconds >= 2 * one) ?? steps[steps.length - 1];
  const value = milliseconds / size;
  return `${Number(value >= 10 ? value.toFixed(0) : value.toPrecision(2))}${unit}`;
}
