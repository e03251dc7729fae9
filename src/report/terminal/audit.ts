// The text of graphex audit.

import type { SplitAudit } from '../../audit/audit.js';
import type { Decision } from '../../audit/decision.js';
import { fixed } from '../../text/numbers.js';
import { many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import {
  auditWords,
  CHECK_COLUMNS,
  CHECK_NOTE,
  comparedMethodTitle,
  decisionWords,
  leftOutWords,
  SPLIT_KIND_TITLES,
} from '../words/audit.js';
import { nextLine, paragraphs, textTable, wrap, wrapAll } from './text-table.js';

export function auditText(
  source: string,
  audit: SplitAudit,
  decision: Decision | undefined,
  names: SideNames,
  written: readonly string[],
  next: readonly string[],
): string {
  const { answer, checks } = auditWords(audit, names);
  const table = textTable([
    [...CHECK_COLUMNS],
    ...checks.map(({ title, verdict, figures }) => [title, verdict, ...figures]),
  ]);
  const notes = checks.map(({ title, words, advice }, at) => {
    const said = advice ?? everySplitHas(audit.checks[at].figures);
    return said !== undefined && `${title}: ${words} ${said}`;
  });
  return paragraphs([
    `${source}: ${audit.verdict}`,
    `${table}\n${wrap(CHECK_NOTE)}`,
    wrapAll([answer, ...notes]),
    ...(decision ? describeDecision(decision, names) : []),
    written.length > 0 && `wrote ${written.join(', ')}\n${nextLine(...next)}`,
  ]);
}

function everySplitHas({ byTime, byDesign }: Readonly<Record<string, number>>): string | undefined {
  if (byTime) return 'Every split by time has this.';
  return byDesign ? 'Every split of this kind has this.' : undefined;
}

function describeDecision(decision: Decision, names: SideNames): string[] {
  return [
    ...decision.leaderboards.map(({ split, users, rows, skipped }) => {
      const table = textTable([
        [
          `${SPLIT_KIND_TITLES[split]}, ${many(users, names.users)}`,
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
      ]);
      return paragraphs([table, wrapAll(leftOutWords({ skipped }))]);
    }),
    wrap(decisionWords(decision)),
  ];
}
