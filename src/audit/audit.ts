// The audit: is this split fair? Runs every check on the parts of any split.

import { InputError, throwIfAborted } from '../errors.js';
import type { SplitTables } from '../evaluate/table-task.js';
import { type BySide, type PartSize, partSize, SIDES, type SideName } from '../graph/graph.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { withDefaults } from '../options/check-options.js';
import { AUDIT } from '../options/commands/audit.js';
import { type OptionsOf, oneOf, value } from '../options/declare.js';
import { SPLIT_METHODS, type SplitMethod } from '../options/names.js';
import { TASK } from '../options/shared.js';
import { createTurns } from '../parallel/turns.js';
import type { TaskOptions } from '../progress.js';
import type { Assignment } from '../sample/split-types.js';
import {
  type AuditCheck,
  type AuditVerdict,
  checkDegreeBias,
  checkFalseZeros,
  checkFiltering,
  checkLost,
  checkOverlap,
  checkSampledCandidates,
  checkTime,
  type PartTimes,
  usersAreSeparate,
  VERDICTS,
} from './checks.js';
import { negativeControl } from './control.js';
import { type CommonParts, commonParts, PARTS, type PartName } from './numbering.js';

const GIVEN = {
  /** The time of each edge of a part, milliseconds since 1970, in the order of its graph's users.neighbors. */
  times: value<PartTimes>('object', 'the times of the edges of each part'),
  /** The random assignment of a split that keeps it, as `split` gives. */
  assignment: value<BySide<Assignment>>('object', 'the random assignment of a split that keeps it'),
  /** How the split was made, if that is known: figures that follow from it are no faults. */
  method: oneOf(SPLIT_METHODS, { meaning: 'how the split was made, if that is known' }),
};

/** What is checked; declared in options/commands/audit.ts. */
export interface AuditOptions extends OptionsOf<typeof AUDIT & typeof GIVEN>, TaskOptions {}

/** What an audit found: the size of each part, every check, and the verdict. */
export interface SplitAudit {
  readonly checks: readonly AuditCheck[];
  /** The worst verdict of all checks. */
  readonly verdict: AuditVerdict;
  readonly parts: Readonly<Partial<Record<PartName, PartSize>>>;
  /** How the split was made, if that was given. */
  readonly method?: SplitMethod | undefined;
  /** Whether test users were held out as a whole. */
  readonly separateUsers: boolean;
}

/**
 * Audits a split; `auditSplit(split(graph))` or any `{ train, test }`.
 * @example
 * import { auditSplit, simulate, split } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const { verdict, checks } = await auditSplit(split(graph), { control: false });
 * console.log(verdict, checks.length);
 */
export async function auditSplit(parts: SplitTables, options: AuditOptions = {}): Promise<SplitAudit> {
  const settings = withDefaults({ ...AUDIT, ...GIVEN, ...TASK }, options);
  const { times = {}, signal, onProgress, seed, control, method } = settings;
  for (const name of PARTS) {
    const [given, edges] = [times[name], parts[name]?.edges ?? 0];
    if (edges === 0 && (name === 'train' || name === 'test')) {
      throw new InputError(`the ${name} part is empty; give a table with at least one row`);
    }
    if (given && given.length !== edges) {
      throw new InputError(`times of ${name}: ${given.length} for ${edges} edges; give one for each`);
    }
  }
  const common = commonParts(parts);
  const random = randomStream(seed, STREAMS.audit);
  const report = (done: number) => onProgress?.({ stage: 'auditing', done, total: 3, unit: 'steps' });
  report(0);
  throwIfAborted(signal);
  const byTime = checkTime(common, times);
  const ordered = byTime.length > 0 && byTime.every(({ verdict }) => verdict === 'fine');
  const turn = createTurns(signal);
  const biasOf = (side: SideName, s: number) => {
    const drawn = options.assignment && drawnOf(common, side, options.assignment[side]);
    return checkDegreeBias(common, side, random.derive(s), ordered, turn, drawn);
  };
  const intended = byDesign(method, byTime);
  const checks: (AuditCheck | undefined)[] = [
    checkOverlap(common),
    ...(await Promise.all(SIDES.map(biasOf))),
    checkFalseZeros(common, ordered),
    checkLost(common),
    ...byTime,
    ...checkFiltering(common),
    checkSampledCandidates(common),
  ];
  report(1);
  throwIfAborted(signal);
  if (control)
    checks.push(await negativeControl(common, random.derive(2), { threads: settings.threads, signal }));
  report(3);
  const found = checks
    .filter((check) => check !== undefined)
    .map((check) => (intended(check) ? asIntended(check) : check));
  return Object.freeze({
    checks: found,
    verdict: worst(found),
    ...(method && { method }),
    parts: Object.fromEntries(
      PARTS.flatMap((name) => {
        const graph = parts[name];
        return graph && graph.edges > 0 ? [[name, partSize(graph)]] : [];
      }),
    ),
    separateUsers: usersAreSeparate(common),
  });
}

/** Which checks have a figure that follows from how the split was made. */
function byDesign(
  method: SplitMethod | undefined,
  byTime: readonly AuditCheck[],
): (check: AuditCheck) => boolean {
  // The times show whether the test pairs are the last ones of their users.
  const isLast =
    method === 'last' && byTime.some(({ name, verdict }) => name === 'timeWithin' && verdict === 'fine');
  return ({ name, side }) =>
    isLast
      ? name === 'degreeBias' || name === 'falseZeros' || name === 'sampledCandidates'
      : method === 'new-items' && (name === 'lost' || (name === 'degreeBias' && side === 'users'));
}

function asIntended(check: AuditCheck): AuditCheck {
  if (check.verdict === 'fine') return check;
  return { ...check, verdict: 'fine', figures: { ...check.figures, byDesign: 1 } };
}

function worst(checks: readonly AuditCheck[]): AuditVerdict {
  return VERDICTS[Math.max(...checks.map(({ verdict }) => VERDICTS.indexOf(verdict)))];
}

/** The assignments of the vertices that are in some part; undefined if the split holds out none of this side. */
function drawnOf(common: CommonParts, side: SideName, { ids, drawn }: Assignment): Uint8Array | undefined {
  const held = new Uint8Array(common.count[side]);
  for (let v = 0; v < ids.length; v++) {
    const at = common.find(side, ids.at(v));
    if (at >= 0) held[at] = drawn[v];
  }
  return held.includes(1) ? held : undefined;
}
