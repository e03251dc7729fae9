// The text of graphex audit.

import type { SplitAudit } from '../../audit/audit.js';
import type { Decision } from '../../audit/decision.js';
import { fixed, grouped } from '../../text/numbers.js';
import type { SideNames } from '../../text/sides.js';
import {
  auditAnswer,
  CHECK_COLUMNS,
  CHECK_NOTE,
  checkAdvice,
  checkFigures,
  checkTitle,
  checkWords,
  comparedMethodTitle,
  decisionWords,
  SPLIT_KIND_TITLES,
} from '../words/audit.js';
import { nextLine, textTable, wrap } from './text-table.js';

export function auditText(
  source: string,
  audit: SplitAudit,
  decision: Decision | undefined,
  names: SideNames,
  written: readonly string[],
  next: readonly string[],
): string {
  return [
    `${source}: ${audit.verdict}`,
    '',
    textTable([
      [...CHECK_COLUMNS],
      ...audit.checks.map((check) => [checkTitle(check, names), check.verdict, ...checkFigures(check)]),
    ]),
    wrap(CHECK_NOTE),
    '',
    wrap(auditAnswer(audit)),
    ...audit.checks
      .filter(({ verdict, figures }) => verdict !== 'fine' || figures.byTime)
      .map((check) => {
        const advice = checkAdvice(check, names) ?? 'Every split by time has this.';
        return wrap(`${checkTitle(check, names)}: ${checkWords(check, names)} ${advice}`);
      }),
    ...(decision ? ['', ...describeDecision(decision)] : []),
    ...(written.length ? ['', `wrote ${written.join(', ')}`, nextLine(...next)] : []),
  ].join('\n');
}

function describeDecision(decision: Decision): string[] {
  return [
    ...decision.leaderboards.flatMap(({ split, users, rows, skipped }) => [
      textTable([
        [
          `${SPLIT_KIND_TITLES[split]}, ${grouped(users)} users`,
          `nDCG@${decision.n}`,
          'behind the winner',
          '95 % interval',
        ],
        ...rows.map(({ name, mean, behind }) => [
          comparedMethodTitle(name),
          fixed(mean, 4),
          behind ? fixed(behind.difference, 4) : '',
          behind ? `${fixed(behind.low, 4)} … ${fixed(behind.high, 4)}` : '',
        ]),
      ]),
      ...skipped.map(({ name, message }) => wrap(`Left out: ${comparedMethodTitle(name)}: ${message}.`)),
      '',
    ]),
    wrap(decisionWords(decision)),
  ];
}
