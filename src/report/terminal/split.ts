// The text of graphex split.

import { SIDES, type SideName } from '../../graph/graph.js';
import { drawnVertices } from '../../sample/split.js';
import type { Split } from '../../sample/split-types.js';
import type { SplitBias } from '../../sparsity/split-bias.js';
import { fixed, grouped, short } from '../../text/numbers.js';
import { many } from '../../text/phrases.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import { timeSplitWords } from '../words/split.js';
import { paragraphs, textTable, wrap, wrapAll } from './text-table.js';

/** What is printed of a split. */
export interface SplitSummary extends Pick<Split, 'method' | 'times'> {
  readonly names: SideNames;
  readonly edges: Readonly<Record<'train' | 'foldIn' | 'test', number>>;
  readonly bias: SplitBias;
  readonly dropped: number;
}

export function splitSummary(
  { method, times, train, foldIn, test }: Split,
  bias: SplitBias,
  dropped: number,
): SplitSummary {
  const edges = { train: train.edges, foldIn: foldIn.edges, test: test.edges };
  return { method, times, names: train.names ?? USERS_AND_ITEMS, edges, bias, dropped };
}

export function foldsText(splits: readonly Split[]): string {
  const names = splits[0].train.names ?? USERS_AND_ITEMS;
  const cells = ({ train, foldIn, test, assignment }: Split, fold: number) => [
    String(fold + 1),
    grouped(drawnVertices(assignment).users),
    ...[train, foldIn, test].map(({ edges }) => grouped(edges)),
  ];
  return paragraphs([
    textTable([
      ['fold', `held-out ${names.users.many}`, 'train edges', 'fold-in edges', 'test edges'],
      ...splits.map(cells),
    ]),
    wrap(
      `Each ${names.users.one} is held out in one fold. A study of the folder fits every method to each fold and shows means with intervals over the folds.`,
    ),
  ]);
}

export function splitText({ method, times, names, edges: of, bias, dropped }: SplitSummary): string {
  const edges = of.train + of.foldIn + of.test;
  const row = (name: string, part: 'whole' | 'train' | 'foldIn' | 'test', partEdges: number) => {
    // An empty part has no averages.
    const average = (value: number, digits: number) => (partEdges === 0 ? '–' : fixed(value, digits));
    return [
      name,
      ...SIDES.map((side) => grouped(bias[side][part].vertices)),
      grouped(partEdges),
      ...SIDES.map((side) => average(bias[side][part].meanDegree, 1)),
      ...SIDES.map((side) => average(bias[side][part].sigma, 3)),
    ];
  };
  const preference = (side: SideName) => short(bias[side].heldOutDegree / bias[side].whole.meanDegree);
  const ratio = `${preference('users')} (${names.users.many}) and ${preference('items')} (${names.items.many})`;
  return paragraphs([
    textTable([
      [
        'part',
        ...SIDES.map((side) => names[side].many),
        'edges',
        ...SIDES.map((side) => `edges/${names[side].one}`),
        ...SIDES.map((side) => `σ̂ ${names[side].many}`),
      ],
      row('whole graph', 'whole', edges),
      row('train', 'train', of.train),
      row('fold-in', 'foldIn', of.foldIn),
      row('test', 'test', of.test),
    ]),
    wrapAll([
      times && (method === 'time' || method === 'last')
        ? timeSplitWords(times, ratio, names)
        : method === 'pq'
          ? `Held-out vertices have ${ratio} times the average degree of the whole graph; random draws give 1, up to chance.`
          : method === 'new-items'
            ? `The ${names.items.many} of the test part have no edge in training. They have ${preference('items')} times the average degree of the whole graph; random draws give 1, up to chance. Fit with a table about the ${names.items.many}: only their attributes can score them.`
            : `Vertices with a held-out edge have ${ratio} times the average degree of the whole graph: a split by edges favours vertices with many edges.`,
      dropped > 0 &&
        (method === 'new-items'
          ? `${many(dropped, 'test edge')} ${dropped === 1 ? 'belongs' : 'belong'} to ${names.users.many} without a history: they have no edge in training.`
          : `${many(dropped, 'edge')} of fold-in and test ${dropped === 1 ? 'leads' : 'lead'} to vertices that are not in training; a model must drop ${dropped === 1 ? 'it' : 'them'}.`),
    ]),
  ]);
}
