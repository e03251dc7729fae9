// Expected counts in fixed point: int64 as two words of 32 bits, low word first, because WGSL has no 64-bit integers. A count is
// stored times params.scale. Scaling by a power of two and splitting a float32 into two words are exact.

/** High word of half the range of int64. A larger sum counts as overflow. */
const LIMIT_HIGH = '0x40000000u';
const TWO_32 = '4294967296.0';
/** 2⁶². */
const LIMIT = '4611686018427387904.0';

export const FIXED_WGSL = `
fn toFixed(count: f32) -> vec2u {
  let scaled = round(count * params.scale);
  if (!(scaled >= 0.0 && scaled < ${LIMIT})) { return vec2u(0u, ${LIMIT_HIGH}); }
  let high = floor(scaled / ${TWO_32});
  return vec2u(u32(scaled - high * ${TWO_32}), u32(high));
}

fn sumFixed(a: vec2u, b: vec2u) -> vec2u {
  let low = a.x + b.x;
  let high = a.y + b.y + select(0u, 1u, low < a.x);
  // Overflow is permanent.
  return vec2u(low, select(high, ${LIMIT_HIGH}, high >= ${LIMIT_HIGH}));
}

// Not finite after an overflow, which the masses then reveal.
fn fromFixed(count: vec2u) -> f32 {
  let value = (f32(count.y) * ${TWO_32} + f32(count.x)) / params.scale;
  return select(value, value * 3e38 * 3e38, count.y >= ${LIMIT_HIGH});
}
`;
