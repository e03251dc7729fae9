// The words of a study's report, for someone who never read the paper.

import { CHECK_DEFINITIONS } from './check.js';
import { html } from './html.js';
import type { Definition } from './page.js';

const DRAW_DEFINITIONS: readonly Definition[] = [
  {
    id: 'draw',
    name: 'Predictive draw',
    meaning:
      'A test graph made up by the fitted model: weights and features of held-out users and test items are drawn from what the fit left uncertain, unseen users and items are added as the model expects them, and edges are drawn between all. If the model is right, the real test graph looks like one of the draws.',
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
      'Twice the share of the draws that lie at or beyond the test set on the nearer side, at most 1; with a corrected interval, corrected too. Below 0.1 the test set lies outside the 90 % interval: the model is surprised. It is a measure of surprise, not of how large the error is.',
  },
];

const CORRECTED_DEFINITION: Definition = {
  id: 'corrected',
  name: 'Corrected interval',
  meaning:
    'Replicas are graphs drawn from the fitted model, so the truth behind them is known. Each is split, fitted and drawn from as the data were. Where its test part lies among its own draws shows how far off and how much too narrow or too wide such intervals are for data of this kind; the intervals of the data are moved and rescaled by that.',
};

/** `drawn`: whether the study has predictive checks; `corrected`: whether replicas corrected them. */
export function studyDefinitions(
  n: number,
  depth: number,
  drawn: boolean,
  corrected: boolean,
): readonly Definition[] {
  return [
    {
      id: 'user',
      name: 'User, item, edge',
      meaning:
        'The data are pairs. Whatever stands on the left of a pair is called a user, whatever stands on the right an item, and the pair an edge: a reader and a book, a text and a word, a package and what it depends on. The degree of a user or item is the number of its edges.',
    },
    ...CHECK_DEFINITIONS,
    {
      id: 'model',
      name: 'The model',
      meaning:
        'Every user has a weight (how many edges it makes) and K features (what it likes); every item likewise. The expected number of edges between two is the product of their weights times the sum over features of the products of their features. Weights come from a generalized gamma process, which can hold infinitely many vertices with tiny weights: those that have no edge yet.',
    },
    {
      id: 'sparse-model',
      name: 'Sparse model',
      meaning:
        'The model with the tail indexes of the data and with room for users and items that have not been seen yet.',
    },
    {
      id: 'dense-model',
      name: 'Dense model',
      meaning:
        'The same with a tail index of −0.1 and no unseen users or items: ordinary Poisson matrix factorization, for comparison.',
    },
    {
      id: 'features',
      name: 'Features, K',
      meaning: 'The number of hidden tastes or topics that a user and an item can share.',
    },
    {
      id: 'bound',
      name: 'Bound',
      meaning:
        'A number that the logarithm of the probability of the data under the model cannot be below, averaged over all parameter values. The fit climbs it until it stands still. Between fits of the same kind to the same data the higher one explains them better. The sparse and the dense fit of this table leave different constants out, so compare them by the evidence instead.',
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
      meaning:
        'How much of the process has been seen: it grows with the data, and the number of unseen users or items is proportional to it. Learned by maximizing the bound.',
    },
    {
      id: 'split',
      name: '(p,q)-split',
      meaning: html`A coin is thrown for every user and for every item. Users whose coin says “train” keep all their
items and make the training part. Of the held-out users, the items whose coin says “fit” are shown to the model
(fold-in), those whose coin says “test” are what it must predict. Holding out random <i>edges</i> instead would favour
vertices with many of them and give a test set that looks unlike the data.`,
    },
    {
      id: 'foldin',
      name: 'Fold-in',
      meaning:
        'Finding the weight and the features of a user whom the fit never saw from some of its edges, with the items as they were fitted.',
    },
    {
      id: 'dropped',
      name: 'Dropped edges',
      meaning: `Edges of the fold-in and test parts to items that no training user has: the model knows nothing about these items, so no recommendation is asked of it there.${drawn ? ' The predictive checks do count them.' : ''}`,
    },
    ...(drawn ? DRAW_DEFINITIONS : []),
    ...(corrected ? [CORRECTED_DEFINITION] : []),
    {
      id: 'candidates',
      name: 'The ranking task',
      meaning:
        'For each held-out user, all items of the test part that training saw are put in order; the user’s own test items should come first. Users without a test item, or of whom nothing is shown, are left out. Items already shown are not ranked.',
    },
    {
      id: 'recall',
      name: `recall@${n}`,
      meaning: `Of a user’s test items, the share that is among the first ${n}; if there are more than ${n}, the share of the ${n} places that they fill. Averaged over users.`,
    },
    {
      id: 'ndcg',
      name: 'nDCG',
      meaning: `Each test item found at rank r counts 1/log₂(r+1), down to rank ${depth.toLocaleString('en-US')}; the sum is divided by what a perfect order would give. Averaged over users.`,
    },
    {
      id: 'unpopular',
      name: 'Without popular items',
      meaning:
        'The same with all items removed whose training degree is above its 95th percentile, from the candidates and from the test lists: does a method know more than what everybody has?',
    },
    {
      id: 'hitrate',
      name: 'Hit rate',
      meaning: `The share of the users with at least one test item among the first ${n}.`,
    },
    { id: 'mrr', name: 'MRR', meaning: 'One over the rank of the first test item, averaged over users.' },
    {
      id: 'map',
      name: 'MAP',
      meaning:
        'At each test item found, the share of test items down to there; averaged over a user’s test items, then over users.',
    },
    {
      id: 'coverage',
      name: 'Coverage',
      meaning: `The share of the candidates that are among the first ${n} of anybody.`,
    },
    {
      id: 'error',
      name: 'Standard error',
      meaning:
        'How far an average over users would typically move if other users of the same kind had been drawn.',
    },
    {
      id: 'paired',
      name: 'Paired interval',
      meaning:
        'The users are drawn again 2,000 times, with replacement; each time both methods are judged on the same users and their difference is noted. The interval holds 95 % of these differences. If it does not contain 0, the difference is more than chance.',
    },
    {
      id: 'baseline',
      name: 'Baseline',
      meaning:
        'A plain or well-known method, to know what is easy. Popularity ranks by training degree; item-kNN by the similarity of an item’s users to those of the items shown; EASE is a linear model of items on items; iALS factorizes with weights on what is missing. Each is tuned on training users that are held back for it; nothing of the test part is used. Counts of pairs are ignored.',
    },
    {
      id: 'ranker',
      name: 'Fit for ranking',
      meaning:
        'The same model fitted for another aim: each item is learned only from users that were fitted without it, which is what a recommendation asks for. It has no bound and makes no predictions of the test graph.',
    },
    {
      id: 'ceiling',
      name: 'Ceilings',
      meaning:
        'Simulated data come with their true parameters. “True items” folds held-out users into the true item parameters: no fit can be expected to rank better. “All true” also knows the users’ parameters.',
    },
    {
      id: 'topic',
      name: 'Feature view',
      meaning:
        'The items of a feature are ordered by 0.6 · log(share) + 0.4 · log(lift), where share is the part of the feature’s expected edges that go to the item, and lift how many times its part of all edges that is. Items with fewer than three training edges are not shown.',
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
        'Average and standard deviation over the splits. It contains chance of the coins and of the fits.',
    },
  ];
}
