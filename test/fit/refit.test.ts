import { expect, test } from 'vitest';
import { refitOptions } from '../../src/fit/ascent/previous.js';
import { fit } from '../../src/fit/fit.js';
import { simulate } from '../../src/process/poisson-model.js';

const prior = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 12 };

test('a fit can be repeated from the options in its model', async () => {
  const { graph } = await simulate({ users: prior, items: prior, features: 2, seed: 3 });
  const { model } = await fit(graph, {
    features: 2,
    users: { shape: 0.4 },
    learn: ['items.rate', 'tau'],
    iterations: 25,
    tolerance: 1e-7,
    seed: 9,
    engine: 'reference',
  });
  const options = refitOptions(JSON.parse(JSON.stringify(model)));
  expect(options).toMatchObject({ features: 2, users: { shape: 0.4 }, iterations: 25, seed: 9 });
  const again = (await fit(graph, options)).model;
  expect(again.bound).toBe(model.bound);
  expect(again.users.featureRate).toEqual(model.users.featureRate);
  expect(again.items.hyper).toEqual(model.items.hyper);
});

test('a ranking fit is not repeated on other data', async () => {
  const { graph } = await simulate({ users: prior, items: prior, features: 2, seed: 3 });
  const { model } = await fit(graph, { features: 2, method: 'ranking', iterations: 2 });
  expect(() => refitOptions(model)).toThrow('fit with method ascent');
});
