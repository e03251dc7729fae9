// Where the values of a table are going, by their last two changes (fit/ascent/extrapolate.ts says why, and has the same in float64).

/** Values above the base, and no less than hardly any. */
// @ts-ignore: decorator
@inline
function above(at: usize, base: v128, least: v128): v128 {
  return f32x4.pmax(f32x4.sub(v128.load(at), base), least);
}

/**
 * Moves each value to where the changes from `first` to `second` and on to it lead; those that turned stay.
 * Arrays are float32, and may be read and written up to the next multiple of four.
 * @param least values above the base that are as good as none
 * @param mostShare a change is taken to shrink to no more than this share of the one before
 * @param mostFactor no value above the base changes by more than this factor
 */
export function moveAhead(
  now: usize,
  first: usize,
  second: usize,
  values: u32,
  lowest: f32,
  least: f32,
  mostShare: f32,
  mostFactor: f32,
): void {
  const base = f32x4.splat(lowest);
  const small = f32x4.splat(least);
  const limit = f32x4.splat(mostShare);
  const factor = f32x4.splat(mostFactor);
  const one = f32x4.splat(1);
  const bytes = (<usize>values) << 2;
  for (let k: usize = 0; k < bytes; k += 16) {
    const x = above(now + k, base, small);
    const middle = above(second + k, base, small);
    const last = f32x4.sub(x, middle);
    // No number where nothing moved.
    const change = f32x4.div(last, f32x4.sub(middle, above(first + k, base, small)));
    const moves = f32x4.gt(change, f32x4.splat(0));
    const share = f32x4.pmin(change, limit);
    const aim = f32x4.add(x, f32x4.div(f32x4.mul(last, share), f32x4.sub(one, share)));
    const held = f32x4.pmin(f32x4.pmax(aim, f32x4.div(x, factor)), f32x4.mul(x, factor));
    v128.store(now + k, v128.bitselect(f32x4.add(base, held), v128.load(now + k), moves));
  }
}
