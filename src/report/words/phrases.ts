// How a study's sentences write numbers and lists, and when they had better not judge.

import type { StudyRun } from '../../study/results.js';

/** '1,235'. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** 'a, b and c'. */
export function list(parts: readonly string[]): string {
  if (parts.length < 2) return parts.join('');
  const separator = parts.some((part) => part.includes(',')) ? '; ' : ', ';
  return `${parts.slice(0, -1).join(separator)}${separator === '; ' ? '; and ' : ' and '}${parts.at(-1)}`;
}

/** Three decimals with a true minus sign. */
export function signed(value: number): string {
  return value.toFixed(3).replace('-', '−');
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Below so many test users or edges, chance decides who comes out first. */
const FEW = { users: 30, edges: 50 };

/** Why the test part cannot tell who is better; undefined where it can. `asked`: users that count, if not all. */
export function tooLittle({ split }: StudyRun, asked = split.test.users): string | undefined {
  const { edges } = split.test;
  if (asked >= FEW.users && edges >= FEW.edges) return undefined;
  const many = (n: number, noun: string) => `${grouped(n)} ${noun}${n === 1 ? '' : 's'}`;
  return `With ${many(asked, 'test user')} and ${many(edges, 'test edge')}, differences may well be chance.`;
}

export const TOO_LITTLE = 'Too little data to tell';
