// The words of the reports, for someone who never read the paper.

import { grouped } from '../../text/numbers.js';
import { article } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { html } from './html.js';
import type { Definition } from './page.js';

/** What a check's page explains. */
export function checkDefinitions({ users, items }: SideNames): readonly Definition[] {
  return [
    {
      id: 'density',
      name: 'Density',
      meaning: `Edges divided by ${users.many} times ${items.many}: the share of all possible pairs that is there.`,
    },
    {
      id: 'sparse',
      name: 'Sparse',
      meaning:
        'A side is sparse if, however much data come in, new vertices keep turning up whose edges can be counted on one hand. Words in texts are like that: every new text brings some never seen before.',
    },
    {
      id: 'dense',
      name: 'Dense',
      meaning:
        'A side is dense if its vertices are all seen sooner or later, and from then on only gain edges. The texts themselves are like that: each has many words.',
    },
    {
      id: 'sigma',
      name: 'Tail index σ',
      meaning:
        'A number below 1. If σ > 0, the number of vertices grows like the σ-th power of what is seen of the other side: the side is sparse, and more so the larger σ. If σ < 0, it levels off: the side is dense.',
    },
    {
      id: 'half',
      name: 'σ̂ at one half',
      meaning:
        'log₂ of the number of vertices over the number expected to keep an edge when half of the other side is dropped. From 0 (none is lost) to 1 (half are).',
    },
    {
      id: 'mean',
      name: 'σ̂, mean over levels',
      meaning: 'The same with every share from 0 to 1 instead of one half, averaged.',
    },
    {
      id: 'likelihood',
      name: 'Likelihood estimate, all degrees',
      meaning:
        'The σ under which the degrees of a side are most likely, if the number of vertices of degree n is proportional to Γ(n−σ)/n! · rⁿ, with its standard error from the curvature of the likelihood. The cut-off r is fitted along with it.',
    },
    {
      id: 'low',
      name: 'Likelihood estimate, low degrees',
      meaning:
        'The same for the 95 % of the vertices with the lowest degrees, given that they are the lowest. The verdict rests on this one, because the law fails for the few vertices of very high degree.',
    },
    {
      id: 'expected',
      name: 'Expected edges over expected pairs',
      meaning: `With ${users.many} kept with probability p: the expected number of edges, divided by the expected number of ${users.many} times the expected number of ${items.many} with an edge left, Σ(1−(1−p)^d) over their degrees d. Likewise for ${items.many}. Both are exact, but a ratio of two averages is not the average of the ratios: in tiny samples, or where one vertex holds many of the edges, it can leave the replicates and even exceed 1.`,
    },
    {
      id: 'replicate',
      name: 'Replicate',
      meaning:
        'One random draw of which vertices are kept, at every level at once, and the density that it leaves.',
    },
  ];
}

const drawDefinitions = ({ users, items }: SideNames): readonly Definition[] => [
  {
    id: 'draw',
    name: 'Predictive draw',
    meaning: `A test graph made up by the fitted model: weights and features of held-out ${users.many} and test ${items.many} are drawn from what the fit left uncertain, unseen ${users.many} and ${items.many} are added as the model expects them, and edges are drawn between all. If the model is right, the real test graph looks like one of the draws.`,
  },
  {
    id: 'interval',
    name: '90 % interval',
    meaning:
      'The range that holds the middle 90 % of the draws. It is as good as the fit behind it: replicas, where they were asked for, correct it.',
  },
  {
    id: 'pvalue',
    name: 'p-value',
    meaning:
      'Twice the share of the draws that lie at or beyond the test set on the nearer side, at most 1; with a corrected interval, corrected too. Below 0.1 the test set lies outside the 90 % interval: the model is surprised. It measures surprise, not the size of the error.',
  },
];

const CORRECTED_DEFINITION: Definition = {
  id: 'corrected',
  name: 'Corrected interval',
  meaning:
    'Replicas are graphs drawn from the fitted model, so the truth behind them is known. Each is split, fitted and drawn from as the data were. Where its test part lies among its own draws shows how far off and how much too narrow or too wide such intervals are for data of this kind; the intervals of the data are moved and rescaled by that.',
};

export interface StudyDefinitions {
  readonly names: SideNames;
  readonly n: number;
  readonly depth: number;
  /** Whether the study has predictive checks, and whether replicas corrected them. */
  readonly drawn: boolean;
  readonly corrected: boolean;
}

/** What a study's page explains. */
export function studyDefinitions({
  names,
  n,
  depth,
  drawn,
  corrected,
}: StudyDefinitions): readonly Definition[] {
  const { users, items } = names;
  const plain = users.one === 'user' && items.one === 'item';
  return [
    {
      id: 'user',
      name: plain
        ? 'User, item, edge'
        : `${users.many} and ${items.many}`.replace(/^./, (c) => c.toUpperCase()),
      meaning: plain
        ? 'The data are pairs. Whatever stands on the left of a pair is called a user, whatever stands on the right an item, and the pair an edge: a reader and a book, a text and a word, a package and what it depends on. The degree of a user or item is the number of its edges.'
        : `The data are pairs of ${article(users.one)} and ${article(items.one)}. A pair is called an edge, and its two ends vertices. The degree of a vertex is the number of its edges. Options and files call the two sides users and items.`,
    },
    ...checkDefinitions(names),
    {
      id: 'model',
      name: 'The model',
      meaning: `Every ${users.one} has a weight (how many edges it makes) and K features (what it goes for); every ${items.one} likewise. The expected number of edges between two is the product of their weights times the sum over features of the products of their features. Weights come from a generalized gamma process, which can hold infinitely many vertices with tiny weights: those that have no edge yet.`,
    },
    {
      id: 'auto-model',
      name: 'Auto model',
      meaning: `The model with a law for each side: an endless supply of ever rarer vertices where the degrees show a tail, and otherwise a fixed population of which some have not been seen yet. Its predictions are corrected by what such draws miss on data that training knows.`,
    },
    {
      id: 'sparse-model',
      name: 'Sparse model',
      meaning: `The model with the tail indexes of the data and with room for ${users.many} and ${items.many} that have not been seen yet.`,
    },
    {
      id: 'dense-model',
      name: 'Dense model',
      meaning: `The same with a tail index of −0.1 and no unseen ${users.many} or ${items.many}: ordinary Poisson matrix factorization, for comparison.`,
    },
    {
      id: 'features',
      name: 'Features, K',
      meaning: `The number of hidden tastes or topics that ${article(users.one)} and ${article(items.one)} can share.`,
    },
    {
      id: 'bound',
      name: 'Bound',
      meaning:
        'A lower limit for the logarithm of the probability of the data under the model, averaged over all parameter values. The fit raises it until it stands still. Between fits of the same kind to the same data the higher one explains them better. Fits of different kinds leave different constants out, so compare sparse and dense by the evidence instead.',
    },
    {
      id: 'evidence',
      name: 'Evidence for sparsity',
      meaning:
        'The bound of the sparse fit minus that of a fit that begins where it ended, with both tail indexes moved to −0.1 and the sizes learned again, so that both are bounds on the same thing. In nats: a difference of 10 makes one e¹⁰ ≈ 22,000 times as credible as the other.',
    },
    {
      id: 'size',
      name: 'Size',
      meaning: `How much of the process has been seen: it grows with the data, and the number of unseen ${users.many} or ${items.many} is proportional to it. Learned by maximizing the bound.`,
    },
    {
      id: 'split',
      name: '(p,q)-split',
      meaning: html`A coin is thrown for every ${users.one} and for every ${items.one}. Those ${users.many} whose coin says “train” keep all their
${items.many} and make the training part. Of the held-out ${users.many}, the ${items.many} whose coin says “fit” are shown to the model
(fold-in), those whose coin says “test” are what it must predict. Holding out random <i>edges</i> instead would favour
vertices with many of them and give a test set that looks unlike the data.`,
    },
    {
      id: 'foldin',
      name: 'Fold-in',
      meaning: `Finding the weight and the features of ${article(users.one)} that the fit never saw, from some of its edges, with the ${items.many} as they were fitted.`,
    },
    {
      id: 'dropped',
      name: 'Dropped edges',
      meaning: `Edges of the fold-in and test parts to ${items.many} that no training ${users.one} has: the model knows nothing about these ${items.many}, so no recommendation is asked of it there.${drawn ? ' The predictive checks do count them.' : ''}`,
    },
    ...(drawn ? drawDefinitions(names) : []),
    ...(corrected ? [CORRECTED_DEFINITION] : []),
    {
      id: 'candidates',
      name: 'The ranking task',
      meaning: `For each held-out ${users.one}, all ${items.many} of the test part that training saw are put in order; those that belong to the ${users.one} should come first. Those ${users.many} without a test ${items.one}, or of whom nothing is shown, are left out. What is shown already is not ranked.`,
    },
    {
      id: 'recall',
      name: `recall@${n}`,
      meaning: `Of the test ${items.many} of ${article(users.one)}, the share that is among the first ${n}; if there are more than ${n}, the share of the ${n} places that they fill. Averaged over ${users.many}.`,
    },
    {
      id: 'ndcg',
      name: 'nDCG',
      meaning: `Each test ${items.one} found at rank r counts 1/log₂(r+1), down to rank ${grouped(depth)}; the sum is divided by what a perfect order would give. Averaged over ${users.many}.`,
    },
    {
      id: 'unpopular',
      name: `Without popular ${items.many}`,
      meaning: `The same with all ${items.many} removed whose training degree is above its 95th percentile, from the candidates and from the test lists: does a method know more than what everybody has?`,
    },
    {
      id: 'hitrate',
      name: 'Hit rate',
      meaning: `The share of the ${users.many} with at least one test ${items.one} among the first ${n}.`,
    },
    {
      id: 'mrr',
      name: 'MRR',
      meaning: `One over the rank of the first test ${items.one}, averaged over ${users.many}.`,
    },
    {
      id: 'map',
      name: 'MAP',
      meaning: `At each test ${items.one} found, the share of test ${items.many} down to there; averaged over those of ${article(users.one)}, then over ${users.many}.`,
    },
    {
      id: 'coverage',
      name: 'Coverage',
      meaning: `The share of the candidates that appear among anybody’s first ${n}.`,
    },
    {
      id: 'error',
      name: 'Standard error',
      meaning: `How far an average over ${users.many} would typically move if others of the same kind had been drawn.`,
    },
    {
      id: 'paired',
      name: 'Paired interval',
      meaning: `The ${users.many} are drawn again 2,000 times, with replacement; each time both methods are judged on the same ones and their difference is noted. The interval holds 95 % of these differences. If it does not contain 0, the difference is more than chance.`,
    },
    {
      id: 'baseline',
      name: 'Baseline',
      meaning: `A plain or well-known method, to know what is easy. Popularity gives everyone the same list, by training degree; item-kNN ranks by how alike the ${users.many} of two ${items.many} are; EASE is a linear model of ${items.many} on ${items.many}, SLIM one on the nearest few; iALS factorizes with weights on what is missing; HPF factorizes by a Poisson law with a rate for each of the ${users.many} and ${items.many}. Each is tuned on training ${users.many} that are held back for it; nothing of the test part is used. Counts of pairs are ignored.`,
    },
    {
      id: 'ranker',
      name: 'Fit for ranking',
      meaning: `The same model fitted for another aim: each ${items.one} is learned only from ${users.many} that were fitted without it, which is what a recommendation asks for. It has no bound and makes no predictions of the test graph.`,
    },
    {
      id: 'ceiling',
      name: 'Ceilings',
      meaning: `Simulated data come with their true parameters. “True ${items.many}” folds held-out ${users.many} into the true parameters of the ${items.many}: no fit can be expected to rank better. “All true” also knows those of the ${users.many}.`,
    },
    {
      id: 'topic',
      name: 'Feature view',
      meaning: `The ${items.many} of a feature are ordered by 0.6 · log(share) + 0.4 · log(lift), where share is the part of the feature’s expected edges that go to the ${items.one}, and lift how many times its part of all edges that is. Those with fewer than three training edges are not shown.`,
    },
    {
      id: 'fingerprint',
      name: 'Fingerprint',
      meaning:
        'A number made from all edges, ids and counts. The same data give the same fingerprint, whatever the order of their rows.',
    },
    {
      id: 'spread',
      name: 'Mean and spread',
      meaning:
        'Average and standard deviation over the splits: how much chance, of the coins and of the fits, moves a figure.',
    },
  ];
}
