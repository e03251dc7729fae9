// When sentences had better not judge.

import type { StudyRun } from '../../study/results.js';
import { many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

/** Below so many test users or edges, chance decides who comes out first. */
const FEW = { users: 30, edges: 50 };

/** Why the test part cannot tell who is better; undefined where it can. `asked`: users that count, if not all. */
export function tooLittle(
  { split }: StudyRun,
  { users }: SideNames,
  asked = split.test.users,
): string | undefined {
  const { edges } = split.test;
  if (asked >= FEW.users && edges >= FEW.edges) return undefined;
  const noun = { one: `test ${users.one}`, many: `test ${users.many}` };
  return `With ${many(asked, noun)} and ${many(edges, 'test edge')}, differences may well be chance.`;
}

export const TOO_LITTLE = 'Too little data to tell';
