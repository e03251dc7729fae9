// Tasks for a pool that fail in every way a worker can.

import { DeviceError, InputError } from '../../dist/errors.js';
import { serveTasks } from '../../dist/parallel/worker.js';

export const double = (n) => 2 * n;

export function fail(n) {
  if (n === 3) throw new TypeError('three is too many');
  return n;
}

export function leave(n) {
  if (n === 3) process.exit(7);
  return n;
}

export function explode(n) {
  if (n === 3) setTimeout(() => JSON.parse('{'), 0);
  return n < 3 ? n : new Promise(() => {});
}

export function unspeakable(n) {
  return n === 3 ? () => n : n;
}

export function refuse(n) {
  if (n === 3) throw new InputError('three is refused', { cause: new DeviceError('the GPU is gone') });
  return n;
}

export function tell(n, onProgress) {
  onProgress({ stage: 'counting', done: n });
  onProgress({ stage: 'counting', done: n + 0.5 });
  onProgress({ stage: 'doubling', done: 1 });
  return 2 * n;
}

serveTasks('dying-tasks', { double, fail, leave, explode, unspeakable, refuse, tell });
