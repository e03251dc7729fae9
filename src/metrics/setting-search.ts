// The search for a setting on held-back users, along one axis at a time. It moves along an axis while the score rises, so the best
// value is never merely the end of a grid.

/** A setting: named numbers. */
export type Setting = Readonly<Record<string, number>>;

/** One number of a setting, and the values next to a given one. */
export interface SettingAxis {
  readonly start: number;
  /** The next larger (+1) or smaller (−1) value; undefined at the end of the range. */
  next(value: number, direction: 1 | -1): number | undefined;
  /** Relative gain that a larger value needs, since it costs more. Default 0. */
  readonly gain?: number | undefined;
}

/** One setting that a search tried, and its score. */
export interface SettingTrial {
  readonly setting: Setting;
  readonly score: number;
}

/** The best setting of a search, with all that it tried. */
export interface Tuned {
  readonly best: SettingTrial;
  /** Every setting that was tried, in order. */
  readonly trials: readonly SettingTrial[];
  /** False if the number of trials ended the search. */
  readonly finished: boolean;
}

/** Multiplies or divides by `ratio`, within limits. */
export function geometric(
  start: number,
  ratio: number,
  low = 0,
  high = Number.POSITIVE_INFINITY,
): SettingAxis {
  return {
    start,
    next(value, direction) {
      // Rounded to six digits, so that going up and down again meets the same value.
      const moved = Number((direction > 0 ? value * ratio : value / ratio).toPrecision(6));
      return moved >= low && moved <= high ? moved : undefined;
    },
  };
}

export function alongValues(start: number, values: readonly number[]): SettingAxis {
  return { start, next: (value, direction) => values[values.indexOf(value) + direction] };
}

/** Moves along the axes until no move gains. A search can continue an earlier one, with other axes. */
export async function searchSettings(
  axes: Readonly<Record<string, SettingAxis>>,
  score: (setting: Setting) => Promise<number>,
  {
    maxTrials = 40,
    gain = 0,
    from,
    onTrial,
    onBest,
  }: {
    maxTrials?: number;
    /** Relative gain that every move needs: less may be chance. Default 0. */
    gain?: number;
    from?: Tuned | undefined;
    onTrial?: (trials: number) => void;
    /** Called when a trial has become the best, before the next one. */
    onBest?: (trial: SettingTrial) => void;
  } = {},
): Promise<Tuned> {
  const trials: SettingTrial[] = [...(from?.trials ?? [])];
  const known = new Map(trials.map((trial) => [keyOf(trial.setting), trial]));
  async function attempt(setting: Setting): Promise<SettingTrial | undefined> {
    const key = keyOf(setting);
    const before = known.get(key);
    if (before) return before;
    if (trials.length >= maxTrials) return undefined;
    const trial = Object.freeze({ setting, score: await score(setting) });
    known.set(key, trial);
    trials.push(trial);
    onTrial?.(trials.length);
    return trial;
  }

  const start = Object.fromEntries(Object.entries(axes).map(([name, axis]) => [name, axis.start]));
  const first = await attempt({ ...from?.best.setting, ...start });
  if (!first) return { ...from!, finished: false };
  let best = first;
  onBest?.(best);
  for (let moved = true; moved; ) {
    moved = false;
    for (const [name, axis] of Object.entries(axes)) {
      for (const direction of [1, -1] as const) {
        for (;;) {
          const value = axis.next(best.setting[name], direction);
          if (value === undefined) break;
          const trial = await attempt({ ...best.setting, [name]: value });
          if (!trial) return { best, trials, finished: false };
          const least = Math.max(gain, direction > 0 ? (axis.gain ?? 0) : 0) * Math.abs(best.score);
          if (trial.score <= best.score + least) break;
          best = trial;
          onBest?.(best);
          moved = true;
        }
      }
    }
  }
  return { best, trials, finished: from?.finished ?? true };
}

function keyOf(setting: Setting): string {
  return JSON.stringify(Object.entries(setting).sort(([a], [b]) => (a < b ? -1 : 1)));
}
