// audit.html: what the audit of a split found.

import type { SplitAudit } from '../../audit/audit.js';
import { type Decision, HELD_OUT } from '../../audit/decision.js';
import { fixed, grouped, percent } from '../../text/numbers.js';
import { capital, many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { VERSION } from '../../version.js';
import {
  auditWords,
  CHECK_COLUMNS,
  CHECK_NOTE,
  comparedMethodTitle,
  decisionWords,
  leftOutWords,
  SPLIT_KIND_TITLES,
} from '../words/audit.js';
import { type Content, html, numbers, table } from './html.js';
import { renderPage } from './page.js';

interface AuditPage {
  /** What was audited: a folder, or the two tables. */
  readonly source: string;
  readonly audit: SplitAudit;
  readonly decision?: Decision | undefined;
  readonly names: SideNames;
  readonly seed: number;
}

export function renderAuditPage(page: AuditPage): string {
  const { audit, decision, names } = page;
  const { answer, checks } = auditWords(audit, names);
  return renderPage({
    title: `Is the split ${page.source} fair?`,
    lead: answer,
    sections: [
      { id: 'checks', title: 'The checks', body: checksBody(checks) },
      {
        id: 'parts',
        title: 'The parts',
        body: table(
          [{ label: '' }, ...numbers(names.users.many, names.items.many, 'pairs')],
          Object.entries(audit.parts).map(([name, { users, items, edges }]) => [
            name,
            grouped(users),
            grouped(items),
            grouped(edges),
          ]),
        ),
      },
      decision && {
        id: 'decision',
        title: 'Would another split have another winner?',
        body: leaderboards(decision, names),
      },
    ],
    footer: html`Made by graphex ${VERSION} with seed ${page.seed}. docs/audit.md reports the error rates of these checks.`,
  });
}

function checksBody(checks: ReturnType<typeof auditWords>['checks']): Content {
  const [first, second, ...figures] = CHECK_COLUMNS;
  return [
    table(
      [{ label: capital(first) }, { label: second }, ...numbers(...figures)],
      checks.map(({ title, verdict, figures }) => [capital(title), html`<b>${verdict}</b>`, ...figures]),
      CHECK_NOTE,
    ),
    html`<dl class="words">${checks.map(
      ({ title, verdict, words, advice }) =>
        html`<dt>${capital(title)}: ${verdict}</dt><dd>${words}${advice !== undefined && html` <b>${advice}</b>`}</dd>
`,
    )}</dl>`,
  ];
}

function leaderboards(decision: Decision, names: SideNames): Content {
  return [
    html`<p>${decisionWords(decision)}</p>`,
    decision.leaderboards.map(({ split, users, rows, skipped }) => [
      table(
        [
          { label: capital(SPLIT_KIND_TITLES[split]) },
          ...numbers(`nDCG@${decision.n}`, 'behind the winner (95 %)'),
        ],
        rows.map(({ name, mean, behind }) => [
          comparedMethodTitle(name),
          fixed(mean, 4),
          behind
            ? `${fixed(behind.difference, 4)} (${fixed(behind.low, 4)} … ${fixed(behind.high, 4)})`
            : 'wins',
        ]),
        `Evaluated on ${many(users, names.users)}; ${percent(HELD_OUT)} are held out.`,
      ),
      leftOutWords({ skipped }).map((words) => html`<p>${words}</p>`),
    ]),
  ];
}
