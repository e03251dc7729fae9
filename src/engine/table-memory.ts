// The memory of tables, for callers that must know beforehand what fits.

/** Bytes of a table in an engine: shapes, rates and activities in float32, padded to vectors of four. */
export function tableBytes(rows: number, features: number): number {
  return rows * (12 * 4 * Math.ceil(features / 4) + 8);
}

/** Bytes of its values outside the engine: shapes and rates. */
export function valueBytes(rows: number, features: number): number {
  return rows * (8 * features + 8);
}

/** Bytes of a table that keeps only means. */
export function meanBytes(rows: number, features: number): number {
  return rows * 4 * (4 * Math.ceil(features / 4) + 1);
}
