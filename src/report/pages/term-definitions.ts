// Definitions of the terms in the reports, for readers who do not know the paper.

import type { Protocol } from '../../options/names.js';
import { grouped } from '../../text/numbers.js';
import { article, capital } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import type { Glossary } from './page.js';

/** What a check's page explains. */
export const checkTerms = ({ users, items }: SideNames): Glossary => ({
  density: `Density: Edges divided by ${users.many} times ${items.many}: the share of all possible pairs that occur in the data.`,
  sparse:
    'Sparse: A side is sparse if new vertices with only a few edges keep appearing, however large the data grow. The words of texts are an example: every new text brings some new words.',
  dense:
    'Dense: A side is dense if all its vertices appear at some point, and then only gain edges. The texts themselves are an example: each has many words.',
  sigma:
    'Tail index σ: A number below 1. If σ > 0, the side is sparse: its number of vertices grows like the σ-th power of the size of the other side. The larger σ, the sparser the side. If σ < 0, the side is dense: its number of vertices levels off.',
  half: 'σ̂ at one half: An estimate from thinning. Drop half of the other side at random, and count the vertices that are expected to keep an edge. σ̂ is log₂ of all vertices divided by that count. It is 0 if no vertex is lost and 1 if half of them are.',
  mean: 'σ̂, mean over levels: The same estimate, averaged over all fractions between 0 and 1 instead of one half.',
  likelihood:
    'Likelihood estimate, all degrees: The maximum-likelihood estimate of σ from the degrees of a side. It assumes that the number of vertices of degree n is proportional to Γ(n−σ)/n! · rⁿ; the cut-off r is fitted too. The standard error comes from the curvature of the likelihood.',
  low: 'Likelihood estimate, low degrees: The same estimate from the 95 % of the vertices with the lowest degrees (a truncated likelihood). The verdict uses this estimate, because the assumed distribution fails for the few vertices of very high degree.',
  expected: `Expected edges over expected pairs: Each of the ${users.many} is kept with probability p. The curve is the expected number of edges, divided by the expected number of ${users.many} and by the expected number of ${items.many} that keep an edge, Σ(1−(1−p)^d) over their degrees d. The curve for dropped ${items.many} is computed in the same way. Each expectation is exact, but a ratio of averages is not the average of the ratios. In tiny samples, or if one vertex has many of the edges, the curve can therefore differ from the replicates and even exceed 1.`,
  replicate:
    'Replicate: One random thinning: a random draw decides which vertices are kept at each level, and the density of what is left is measured.',
});

const drawTerms = ({ users, items }: SideNames): Glossary => ({
  draw: `Predictive draw: A test graph simulated from the fitted model. The weights and features of held-out ${users.many} and test ${items.many} are drawn from the posterior. Unseen ${users.many} and ${items.many} are added as the model expects them. Then edges are drawn between all of them. If the model is right, the real test graph looks like one of these draws.`,
  interval:
    '90 % interval: The range of the middle 90 % of the draws. It is only as good as the fit; if replicas were requested, they correct it.',
  pvalue:
    'p-value: Count the draws that are at least as large as the test set, and those that are at most as large. The p-value is twice the smaller share, but at most 1. If the interval is corrected, so is the p-value. Below 0.1, the test set lies outside the 90 % interval. A p-value measures how unexpected the test set is, not the size of the error.',
});

const CORRECTED: Glossary = {
  corrected:
    'Corrected interval: Replicas are graphs drawn from the fitted model, so their truth is known. Each replica is split and fitted, and test graphs are drawn for it, exactly as for the data. The position of its test part among these draws shows how biased, too narrow or too wide the intervals are for data of this kind. The intervals of the data are shifted and rescaled accordingly.',
};

const RANKED: Readonly<Record<StudyTermsContext['ranked'], (names: SideNames) => string>> = {
  split: ({ users, items }) =>
    `For each held-out ${users.one}, a method ranks all test ${items.many} that occur in training; those of the ${users.one} should come first. The ${items.many} of the fold-in part are not ranked. Held-out ${users.many} without a test ${items.one}, or without a fold-in ${items.one}, are left out.`,
  'all-items': ({ users, items }) =>
    `For each test ${users.one}, a method ranks all ${items.many} that the ${users.one} does not have yet; the test ${items.many} of the ${users.one} should come first.`,
  'new-items': ({ users, items }) =>
    `For each test ${users.one}, a method ranks all test ${items.many}; those of the ${users.one} should come first. They have no edge in training, so only their attributes can rank them. Test ${users.many} without any ${items.one} in training are left out.`,
};

interface StudyTermsContext {
  readonly names: SideNames;
  readonly n: number;
  readonly depth: number;
  /** Whether the study has predictive checks, and whether replicas corrected them. */
  readonly drawn: boolean;
  readonly corrected: boolean;
  /** What is ranked: the protocol of the study, or the held-out items of a split by new items. */
  readonly ranked: Protocol | 'new-items';
}

/** What a study's page explains. */
export function studyTerms({ names, n, depth, drawn, corrected, ranked }: StudyTermsContext): Glossary {
  const { users, items } = names;
  const plain = users.one === 'user' && items.one === 'item';
  return {
    user: plain
      ? 'User, item, edge: The data are pairs: a reader and a book, a text and a word, a package and a dependency. The first of a pair is called a user, the second an item, and the pair an edge. The degree of a user or item is the number of its edges.'
      : `${capital(users.many)} and ${items.many}: The data are pairs of ${article(users.one)} and ${article(items.one)}. A pair is called an edge, and its two ends vertices. The degree of a vertex is the number of its edges. Options and files call the two sides users and items.`,
    ...checkTerms(names),
    model: `The model: Every ${users.one} and every ${items.one} has a weight (how active or popular) and K features (which tastes or topics). The expected number of edges of a pair is the product of the two weights, times the sum over features of the products of the two features. Weights come from a generalized gamma process. It can hold infinitely many vertices with tiny weights, which have no edge yet.`,
    'auto-model': `Auto model: The model with a prior chosen for each side. If the degrees of a side show a tail, the prior is sparse: rarer and rarer vertices keep appearing. Otherwise it is a fixed population, of which some are not seen yet. Its predictions are corrected by the errors of the same draws on training data.`,
    'sparse-model': `Sparse model: The model with the tail indexes of the data. It expects ${users.many} and ${items.many} that are not seen yet, without an upper limit.`,
    'dense-model': `Dense model: The same model with a tail index of −0.1 and no unseen ${users.many} or ${items.many}. This is ordinary Poisson matrix factorization, for comparison.`,
    features: `Features, K: The number of hidden tastes or topics that ${article(users.one)} and ${article(items.one)} can share.`,
    bound:
      'Bound: The evidence lower bound: a lower limit of the log probability of the data under the model, averaged over all parameter values. The fit raises it until it converges. Of two fits of the same kind to the same data, the one with the higher bound explains them better. Fits of different kinds leave out different constants, so compare sparse and dense by the evidence instead.',
    evidence:
      'Evidence for sparsity: The bound of the sparse fit minus the bound of a dense one. The dense fit continues from the sparse one with both tail indexes set to −0.1 and the sizes learned again, so both bounds are comparable. The unit is nats: a difference of 10 makes one fit e¹⁰ ≈ 22,000 times as credible as the other.',
    size: `Size: How much of the process is observed. It grows with the data, and the number of unseen ${users.many} or ${items.many} is proportional to it. The fit learns it by maximizing the bound.`,
    split: `(p,q)-split: Every ${users.one} and every ${items.one} is assigned at random. Training ${users.many} keep all their ${items.many}.
For the held-out ${users.many}, the model sees the edges to fold-in ${items.many} and must predict the edges to test
${items.many}. Holding out random edges instead would favour vertices with many edges, and the test set would not
look like the data.`,
    foldin: `Fold-in: Estimating the weight and the features of ${article(users.one)} that the fit did not see, from some of its edges. The ${items.many} stay as fitted.`,
    dropped: `Dropped edges: Edges of the fold-in and test parts to ${items.many} that no training ${users.one} has. The model knows nothing about these ${items.many}, so they are not ranked.${drawn ? ' The predictive checks do count these edges.' : ''}`,
    ...(drawn && drawTerms(names)),
    ...(corrected && CORRECTED),
    candidates: `The ranking task: ${RANKED[ranked](names)}`,
    recall: `recall@${n}: The share of the test ${items.many} of ${article(users.one)} that are among the first ${n}. Averaged over ${users.many}.`,
    'recall-capped': `capped recall@${n}: The same, but divided by ${n} if ${article(users.one)} has more than ${n} test ${items.many}. The paper calls this recall.`,
    ndcg: `nDCG: Normalized discounted cumulative gain. Each test ${items.one} at rank r counts 1/log₂(r+1), down to rank ${grouped(depth)}; the sum is divided by that of a perfect order. Averaged over ${users.many}.`,
    unpopular: `Without popular ${items.many}: The same metric without the most popular ${items.many}: those with a training degree above the 95th percentile are neither ranked nor counted as test ${items.many}. It shows whether a method finds more than what is popular.`,
    hitrate: `Hit rate: The share of the ${users.many} with at least one test ${items.one} among the first ${n}.`,
    mrr: `MRR: Mean reciprocal rank: 1 divided by the rank of the first test ${items.one}, averaged over ${users.many}.`,
    map: `MAP: Mean average precision. At the rank of each test ${items.one}, precision is the share of test ${items.many} down to that rank. It is averaged over the test ${items.many} of ${article(users.one)}, then over ${users.many}.`,
    coverage: `Coverage: The share of all candidates that are among the first ${n} of at least one ${users.one}.`,
    error: `Standard error: How much an average over ${users.many} would typically change with another random sample of ${users.many}.`,
    paired: `Paired interval: A bootstrap interval. The ${users.many} are resampled 2,000 times with replacement, and each time both methods are evaluated on the same sample. The interval contains 95 % of the differences. If it does not contain 0, the difference is more than chance.`,
    baseline: `Baseline: A simple or well-known method to compare with. Popularity gives everyone the same list, by training degree. Item-kNN compares ${items.many} by the ${users.many} they share. EASE is a linear model that predicts each of the ${items.many} from all others, SLIM from the nearest ones. iALS is least-squares matrix factorization that gives missing pairs a small weight. HPF is hierarchical Poisson factorization. Each baseline is tuned on training ${users.many} held back for this purpose, never on the test part. Baselines ignore counts.`,
    lists: `Lists made elsewhere: Recommendations of another program, read from a table. Their ${items.many} are counted by rank; ${items.many} that the ${users.one} has in training are skipped.`,
    ranker: `Ranker: The same model, fitted to rank. Each ${items.one} is learned only from ${users.many} that were fitted without it, as in a recommendation. A ranker has no bound and cannot draw test graphs.`,
    ceiling: `Ceilings: The true parameters of simulated data are known. “True ${items.many}” uses the true parameters of the ${items.many} and folds in the held-out ${users.many}: no fit can be expected to rank better. “All true” also uses the true parameters of the ${users.many}.`,
    topic: `Feature view: The ${items.many} of a feature are ordered by 0.6 · log(share) + 0.4 · log(lift). Share is the ${items.one}’s fraction of the expected edges of the feature. Lift is that share divided by the ${items.one}’s fraction of all edges. Those with fewer than three training edges are not shown.`,
    fingerprint:
      'Fingerprint: A hash of all edges, ids and counts. The same data give the same fingerprint in any order of rows.',
    spread:
      'Mean and spread: Average and standard deviation over the splits. The spread shows how much a figure depends on the random draws of splits and fits.',
  };
}
