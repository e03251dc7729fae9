import { describe, expect, it } from 'vitest';
import { BipartiteGraph } from '../../src/browser.js';
import { forecastGrowth } from '../../src/forecast/forecast.js';
import { nextPeriod } from '../../src/forecast/next-period.js';
import { forecastAnswer, nextWords } from '../../src/report/words/forecast.js';
import { USERS_AND_ITEMS } from '../../src/text/sides.js';

const DAY = 86_400_000;

/** Users with five items each arrive in periods of ten days: `arrivals[p]` users in period p. */
function arriving(arrivals: readonly number[]) {
  const pairs: [string, string][] = [];
  const when = new Map<string, number>();
  let user = 0;
  for (const [period, count] of arrivals.entries()) {
    for (let u = 0; u < count; u++, user++) {
      const id = `u${String(user).padStart(5, '0')}`;
      // Within the period, and the last one at its very end.
      const time = DAY * 10 * (period + (u + 1) / count);
      for (let e = 0; e < 5; e++) pairs.push([id, `i${(user * 7 + e * e * 13) % 40}`]);
      when.set(id, time);
    }
  }
  const graph = BipartiteGraph.fromPairs(pairs);
  const times = new Float64Array(graph.edges);
  for (let u = 0; u < graph.users.count; u++)
    times.fill(when.get(graph.users.ids.at(u))!, graph.users.offsets[u], graph.users.offsets[u + 1]);
  return { graph, times };
}

describe('the next period', () => {
  const { graph, times } = arriving([50, 10, 20, 30, 20]);

  it('grows as the last ones did on average; the first, in which all are new, is left out', () => {
    const next = nextPeriod(graph, times, '10d');
    // Four whole periods of the five, as the first user does not come at the very beginning.
    expect(next.past).toEqual([20, 30, 20]);
    expect(next.users.mean).toBeCloseTo(70 / 3);
    expect(next.times).toBeCloseTo(1 + next.users.mean / 130);
    expect(next.users.low).toBeLessThan(next.users.mean - 5);
    expect(next.users.high).toBeGreaterThan(next.users.mean + 5);
  });

  it('is the multiple of a forecast, and is described in a sentence', async () => {
    const found = await forecastGrowth(graph, { next: '10d', times, trials: 5, draws: 0 });
    expect(found.asked.users).toBe(found.next!.times);
    const { mean, low, high } = found.next!.users;
    expect(found.forecast!.users).toEqual({ mean: 130 + mean, low: 130 + low, high: 130 + high });
    expect(nextWords(found, USERS_AND_ITEMS)[0]).toMatch(
      /^In the 10 days after 1970-02-20, about \d+ \(\d+ to \d+\) new users are expected, in addition to today’s 130\. In the last 3 periods of 10 days there were 20, 30 and 20; the forecast is the average of these 3; the first one of the data does not count, as everybody is new in it\.$/,
    );
    const plain = await forecastGrowth(graph, { usersTimes: 1.5, trials: 5, draws: 0 });
    expect(plain.next).toBeUndefined();
  });

  it('has intervals that include the uncertainty of the number of users', async () => {
    const options = { times, trials: 5, draws: 0, seed: 3 };
    const found = await forecastGrowth(graph, { ...options, next: '10d' });
    const at = async (usersTimes: number) =>
      (await forecastGrowth(graph, { ...options, usersTimes })).forecast!;
    const { times: multiple, users } = found.next!;
    const [known, fewest, most] = await Promise.all(
      [multiple, 1 + users.low / 130, 1 + users.high / 130].map(at),
    );
    const { items, edges } = found.forecast!;
    for (const side of ['items', 'edges'] as const) {
      expect(found.forecast![side].mean).toBeCloseTo(known[side].mean);
      // The interval contains that of a known number of users, and the forecasts for the fewest and the most users.
      expect(found.forecast![side].low).toBeLessThanOrEqual(Math.min(known[side].low, fewest[side].mean));
      expect(found.forecast![side].high).toBeGreaterThanOrEqual(Math.max(known[side].high, most[side].mean));
    }
    // The two errors are independent: their squares add up.
    expect(edges.high - edges.mean).toBeCloseTo(
      Math.hypot(known.edges.high - known.edges.mean, most.edges.mean - known.edges.mean),
      -0.5,
    );
    expect(items.low).toBeGreaterThanOrEqual(graph.items.count);
    expect(forecastAnswer(found, USERS_AND_ITEMS)).toMatch(/^After the next 10 days there will be about /);
  });

  it.each([
    [{ next: '10d' }, /next needs the time of each row/],
    [{ next: '10d', times, usersTimes: 2 }, /both say how the users grow/],
    [{ next: 'fortnight', times }, /"fortnight" is not a period; give week, month/],
    [{ next: '0d', times }, /is not a period/],
    [{ next: 'quarter', times }, /the times cover 50 days; give a period that fits into them at least twice/],
  ])('%j is refused', async (options, words) => {
    await expect(forecastGrowth(graph, options)).rejects.toThrow(words);
  });
});
