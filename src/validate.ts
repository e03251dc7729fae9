// Checks of option values. Each returns the value, or says what it is and what it should be.

import { InputError } from './errors.js';

export function oneOf<const T extends string>(name: string, value: T, allowed: readonly T[]): T {
  if (!allowed.includes(value)) {
    throw new InputError(`${name}: "${value}" is not one of ${allowed.join(', ')}`);
  }
  return value;
}

export function whole(name: string, value: number, min: number, max = Infinity): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    const range = max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`;
    throw new InputError(`${name}: ${value} is not a whole number ${range}`);
  }
  return value;
}

export function positive(name: string, value: number): number {
  if (!(value > 0 && Number.isFinite(value))) {
    throw new InputError(`${name}: ${value} is not a number above 0`);
  }
  return value;
}

export function fraction(name: string, value: number): number {
  if (!(value > 0 && value < 1)) {
    throw new InputError(`${name}: ${value} is not a fraction above 0 and below 1`);
  }
  return value;
}
