import { describe, expect, test } from 'vitest';
import { ascend } from '../../src/fit/ascent/ascent.js';
import { describeSides } from '../../src/fit/sides/side-prior.js';
import { sizePosteriors } from '../../src/fit/sides/size-posterior.js';
import { SIDES } from '../../src/graph/graph.js';
import { randomStream } from '../../src/math/random.js';
import { simulate } from '../../src/process/poisson-model.js';

const shapes = { tau: 1, shape: 0.5, rate: 0.5 };
const cpu = { features: 3, engine: 'cpu', threads: 1, iterations: 150 } as const;

describe('the interval of a size', () => {
  test('contains the truth more often than one that treats the shared scale as known', async () => {
    let held = 0;
    let heldByGamma = 0;
    const sets = 24;
    for (let set = 0; set < sets; set++) {
      const random = randomStream(5, set);
      const side = () => ({
        ...shapes,
        sigma: -0.5 + random.uniform(),
        size: 25 + 35 * random.uniform(),
      });
      const sides = { users: side(), items: side() };
      const { graph } = await simulate({ ...sides, features: 3, seed: set });
      const known = SIDES.map((name) => [name, { ...shapes, sigma: sides[name].sigma }]);
      const { model } = await ascend(graph, { ...cpu, ...Object.fromEntries(known) });
      const sizes = sizePosteriors(model);
      for (const name of SIDES) {
        const { interval, standardError } = sizes[name]!;
        const { low, high } = interval;
        const { size } = sides[name];
        if (low <= size && size <= high) held++;
        const { hyper, count } = model[name];
        if (Math.abs(Math.log(size / hyper.size)) < 1.645 / Math.sqrt(count)) heldByGamma++;
        expect(low).toBeLessThan(hyper.size);
        expect(high).toBeGreaterThan(hyper.size);
        expect(Math.log(high / low)).toBeCloseTo((2 * 1.6449 * standardError) / hyper.size, 9);
      }
    }
    expect(held).toBeGreaterThan(0.7 * 2 * sets);
    expect(held - heldByGamma).toBeGreaterThan(0.08 * 2 * sets);
  });

  test('is narrower for larger graphs', async () => {
    const width = async (size: number) => {
      const side = { ...shapes, sigma: 0.2, size };
      const { graph } = await simulate({ users: side, items: side, features: 3, seed: 5 });
      const { model } = await ascend(graph, cpu);
      return sizePosteriors(model).users!.standardError / model.users.hyper.size;
    };
    expect(await width(90)).toBeLessThan(0.7 * (await width(25)));
  });

  test('belongs to fitted sizes, and is part of the report of a side', async () => {
    const side = { ...shapes, sigma: 0.2, size: 25 };
    const { graph } = await simulate({ users: side, items: side, features: 3, seed: 6 });
    const given = (await ascend(graph, { ...cpu, users: { size: 25 } })).model;
    const { users, items } = describeSides(given);
    expect(users.sizeInterval).toBeNull();
    expect(users.standardError.size).toBeNull();
    const { interval, standardError } = sizePosteriors(given).items!;
    expect(items.sizeInterval).toEqual(interval);
    expect(items.standardError.size).toBe(standardError);
    expect(interval.low).toBeLessThan(items.size);
    const { model: dense } = await ascend(graph, { ...cpu, model: 'dense' });
    expect(sizePosteriors(dense)).toEqual({});
  });
});
