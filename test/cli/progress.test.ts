import { describe, expect, it } from 'vitest';
import { createProgressView, describeProgress, shortNumber, shortTime } from '../../src/cli/progress.js';
import { textTable, wrap } from '../../src/report/terminal/text-table.js';

function recorder(isTTY: boolean, quiet = false) {
  const written: string[] = [];
  let time = 0;
  const stream = { isTTY, columns: 60, write: (text: string) => written.push(text) };
  const view = createProgressView(stream, { quiet, now: () => time });
  return {
    written,
    report(done: number, at: number) {
      time = at;
      view.report({ stage: 'reading', done, total: 1000, unit: 'rows' });
    },
    view,
  };
}

describe('progress', () => {
  it('shows rate and time left', () => {
    const line = describeProgress(
      { stage: 'fitting', done: 250, total: 1000, unit: 'iterations', note: 'bound -3' },
      5,
      0,
      true,
    );
    expect(line).toMatch(
      /^fitting {2}█+░+ {2}25 % {2}250 of 1000 iterations {2}50 iterations\/s {2}15 s left {2}bound -3$/,
    );
    expect(describeProgress({ stage: 'reading', done: 5 }, 0, 0, true)).toBe('reading  5');
  });

  it('counts steps, and says how long they have taken so far', () => {
    const line = (overall: Parameters<typeof describeProgress>[0]['overall']) =>
      describeProgress({ stage: 'fit sparse model: fitting', done: 3, overall }, 0, 0, false);
    expect(line({ step: 3, steps: 9, seconds: 12 })).toMatch(/^step 3 of 9, 12 s so far {2}fit/);
    expect(line({ step: 3, steps: 9, seconds: 133 })).toMatch(/^step 3 of 9, 2 min 13 s so far/);
  });

  it('redraws one line on a terminal, within its width, and wipes it', () => {
    const { written, report, view } = recorder(true);
    for (let t = 0; t <= 1000; t += 10) report(t, t);
    view.clear();
    expect(written.length).toBeLessThan(15);
    for (const text of written) {
      expect(text.startsWith('\r\u001b[2K')).toBe(true);
      expect(text.length).toBeLessThan(70);
    }
    expect(written.at(-1)).toBe('\r\u001b[2K');
    expect(written.join('')).not.toContain('\n');
  });

  it('writes a plain line every few seconds elsewhere, and none for a short stage', () => {
    const { written, report } = recorder(false);
    for (let t = 0; t <= 2000; t += 10) report(t / 20, t);
    expect(written).toEqual([]);
    for (let t = 2000; t <= 10_000; t += 10) report(t / 20, t);
    expect(written).toHaveLength(3);
    for (const line of written) expect(line).toMatch(/^reading {2}\d+ % .*left\n$/);
  });

  it('is silent when quiet', () => {
    const { written, report, view } = recorder(true, true);
    report(1, 0);
    view.note('warning: x');
    view.clear();
    expect(written).toEqual([]);
  });

  it('writes short numbers and times', () => {
    expect([9999, 12_345, 1_234_567, 2.5e9, 7.129].map(shortNumber)).toEqual([
      '9999',
      '12.3 k',
      '1.23 M',
      '2.50 G',
      '7.13',
    ]);
    expect([3, 75, 3725].map(shortTime)).toEqual(['3 s', '1 min 15 s', '1 h 2 min']);
  });
});

describe('text', () => {
  it('aligns columns without counting combining marks', () => {
    expect(
      textTable([
        ['σ̂ x', '1'],
        ['ab', '22'],
      ]),
    ).toBe('σ̂ x   1\nab   22');
  });

  it('breaks lines at spaces', () => {
    const word = 'a'.repeat(39);
    expect(wrap(`${word} ${word} ${word}`)).toBe(`${word} ${word}\n${word}`);
    expect(wrap(`${word} ${word} ${word}`, '  ', '    ')).toBe(`  ${word}\n    ${word}\n    ${word}`);
  });
});
