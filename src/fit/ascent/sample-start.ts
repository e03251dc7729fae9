// A fit in two levels. A sample of the users is a graph of the same law with a smaller size, and tells features of items apart
// nearly as well: several starts are tried there for a fraction of a sweep each, and the best goes on with all of the data.

import type { Engine } from '../../engine/engine.js';
import type { BipartiteGraph } from '../../graph/graph.js';
import { selectVertices } from '../../graph/subgraph.js';
import { randomStream, textHash } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { option, optionError } from '../../options/error.js';
import type { AscentOptions, Counted, FitSettings } from '../options.js';
import { logCountFactorials } from './bound.js';
import { dataFacts } from './data-facts.js';
import { firstHyper, learnedHyper, tausToMatch } from './hyper.js';
import { RELAXATION, runLoop } from './loop.js';
import type { PreviousState } from './previous.js';
import { SHORTEST, startValues } from './start.js';

/** The share of the users in the sample, and of many edges: such a part of them tells the features as well. */
const SHARE = 1 / 8;
const SMALL_SHARE = 1 / 16;
const MANY_EDGES = 4_000_000;
/** The warm phase on a sample ends at this change: going on there does not raise the bound of the whole fit. */
const WARM_TOLERANCE = 3e-4;
/** Starts that are tried on it. */
const STARTS = 2;
/** Exact sweeps after which they are compared: the order of the bounds is then about that of the whole fits. */
const JUDGED_SWEEPS = 10;
/** Fits of fewer edges take a second, and a sample of them raises the bound of some and lowers that of others. */
const FEWEST_EDGES = 300_000;
/** Far from the seeds of restarts, which count up. */
const SEED_STEP = 1_000_003;

/** Whether a fit begins on a sample: as was asked, or where it pays. */
export function beginsOnSample(
  engine: Pick<Engine, 'name'>,
  graph: BipartiteGraph,
  { levels, start, iterations }: FitSettings,
  { from }: Pick<AscentOptions, 'from'>,
): boolean {
  if (levels !== undefined && levels > 1) {
    if (start === 'cold')
      throw optionError`${option('levels')} ${String(levels)} does not go with ${option('start')} cold: a sample is fitted warm; leave out one of the two`;
    if (from)
      throw optionError`${option('levels')} ${String(levels)} does not go with ${option('from')}: the former model is where the fit begins; leave out one of the two`;
    return true;
  }
  if (levels !== undefined || start === 'cold' || from) return false;
  // A GPU sweeps over all of the data in less time than the sample takes to be drawn and carried over: at 100 million edges a fit
  // took 1.8 times as long with it. Nor does it pay before a fit of a few sweeps.
  return engine.name !== 'gpu' && iterations >= SHORTEST && graph.edges >= FEWEST_EDGES;
}

/** A random share of the users, drawn by seed and id, with all of their items. */
export function sampleUsers(graph: BipartiteGraph, share: number, seed: number): BipartiteGraph {
  const random = randomStream(seed, STREAMS.levels);
  const { ids, count } = graph.users;
  const users = Uint8Array.from({ length: count }, (_, i) =>
    random.derive(...textHash(ids.at(i))).uniform() < share ? 1 : 0,
  );
  return selectVertices(graph, users, new Uint8Array(graph.items.count).fill(1));
}

/** The best of several starts on a sample, on the scale of all data; undefined where the sample has nothing to say. */
export async function fitSample(
  engine: Engine,
  graph: BipartiteGraph,
  settings: FitSettings,
  options: Counted<AscentOptions>,
  seed: number,
): Promise<PreviousState | 'aborted' | undefined> {
  const sample = sampleUsers(graph, graph.edges < MANY_EDGES ? SHARE : SMALL_SHARE, seed);
  if (sample.edges === 0) return undefined;
  const kept = sample.users.count / graph.users.count;
  const { size } = settings.given.users;
  const coarse: FitSettings = {
    ...settings,
    // Sizes that were given are those of all data.
    given: {
      ...settings.given,
      users: { ...settings.given.users, ...(size !== undefined && { size: size * kept }) },
    },
    sizes: 'bound',
    tolerance: 0,
  };
  const facts = dataFacts(sample);
  const hyper = await firstHyper(facts, coarse, options.signal);
  const moving = { learn: learnedHyper(coarse, hyper), matchedTaus: tausToMatch(facts, coarse, hyper) };
  const data = { ...sample, factorials: logCountFactorials(sample.users.counts) };
  const { onProgress, signal } = options;
  let best: PreviousState | undefined;
  let highest = -Infinity;
  for (let start = 0; start < STARTS; start++) {
    const values = startValues(sample, hyper, settings, seed + SEED_STEP * start);
    const tables = {
      users: await engine.createTable(settings.features, values.users, 'mean'),
      items: await engine.createTable(settings.features, values.items, 'mean'),
    };
    const stage = `trying starts on a sample: ${start + 1} of ${STARTS}`;
    const { state, bound, stopped } = await runLoop(
      engine,
      data,
      tables,
      {
        ...{ iteration: 0, warmSweeps: undefined, bounds: [], likelihood: undefined },
        relaxation: RELAXATION,
        hyper,
      },
      { ...coarse, exactSweeps: JUDGED_SWEEPS, warmTolerance: WARM_TOLERANCE },
      moving,
      { signal, onProgress: onProgress && ((progress) => onProgress({ ...progress, stage })) },
    );
    if (stopped !== 'aborted' && (best === undefined || (bound ?? -Infinity) > highest)) {
      highest = bound ?? -Infinity;
      const side = async (name: 'users' | 'items', scale: number) => ({
        ...(await engine.read(tables[name])),
        ids: sample[name].ids,
        count: sample[name].count,
        hyper: { ...state.hyper[name], size: state.hyper[name].size * scale },
        unseenMass: (await engine.totals(tables[name])).unseenMass.map((mass) => mass * scale),
      });
      // All data have as many more users as were left out; items are the same ones.
      best = {
        features: settings.features,
        users: await side('users', 1 / kept),
        items: await side('items', 1),
      };
    }
    for (const table of Object.values(tables)) void engine.free(table);
    if (stopped === 'aborted') return 'aborted';
  }
  return best;
}
