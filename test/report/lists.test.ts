import { expect, it } from 'vitest';
import { titleBook } from '../../src/predict/titles.js';
import { listText } from '../../src/report/terminal/lists.js';
import { fittedModel } from '../predict/recommend-model.js';

it('gives an interval as many digits as its width needs', () => {
  const model = fittedModel(false);
  const printed = (low: number, high: number) =>
    listText(
      { items: [{ item: 'a', score: 0.172, low, high }], confidence: { text: 'Stable.' } },
      model,
      titleBook(model.items.ids, []),
    );
  expect(printed(0.17012, 0.17388)).toContain('0.1701 … 0.1739');
  expect(printed(0.2, 1.4)).toContain('0.2 … 1.4');
  expect(printed(12.3, 480.9)).toContain('12 … 481');
  expect(printed(0.5, 0.5)).toContain('0.50 … 0.50');
});
