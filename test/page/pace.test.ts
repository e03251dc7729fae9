import { afterEach, expect, test, vi } from 'vitest';
import { createPace } from '../../src/page/map/pace.js';

afterEach(() => vi.unstubAllGlobals());

/** A machine on which every frame takes so long. */
function frames(milliseconds: number): void {
  let now = 0;
  vi.stubGlobal('requestAnimationFrame', (callback: (time: number) => void) => {
    now += milliseconds;
    callback(now);
  });
}

test('a map that moves too slowly is drawn with fewer points, at least a few thousand, and with all if it is fast enough', () => {
  const pace = createPace(100_000);
  expect(pace.count()).toBe(100_000);
  frames(200);
  pace.time();
  expect(pace.count()).toBe(50_000);
  for (let f = 0; f < 20; f++) pace.time();
  expect(pace.count()).toBe(5000);
  frames(16);
  for (let f = 0; f < 30; f++) pace.time();
  expect(pace.count()).toBe(100_000);
});

test('a small map is always drawn whole', () => {
  const pace = createPace(1200);
  frames(300);
  for (let f = 0; f < 5; f++) pace.time();
  expect(pace.count()).toBe(1200);
});
