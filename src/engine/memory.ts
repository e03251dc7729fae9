// How much memory tables take, for whoever has to know beforehand what fits.

/** A table in the memory of an engine: shapes, rates and activities in single precision, in whole vectors of four. */
export function tableBytes(rows: number, features: number): number {
  return rows * (12 * 4 * Math.ceil(features / 4) + 8);
}

/** Its values outside: shapes and rates. */
export function valueBytes(rows: number, features: number): number {
  return rows * (8 * features + 8);
}

/** A table of which only means are kept. */
export function meanBytes(rows: number, features: number): number {
  return rows * 4 * (4 * Math.ceil(features / 4) + 1);
}
