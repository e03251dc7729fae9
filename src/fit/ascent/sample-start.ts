// A fit that starts on a sample of the users. The sample is a graph of the same model with a smaller size, and shows the features
// of the items nearly as well. Several starts are tried there at a fraction of the cost, and the best continues with all data.

import type { Engine } from '../../engine/engine.js';
import type { BipartiteGraph } from '../../graph/graph.js';
import { selectVertices } from '../../graph/subgraph.js';
import { randomStream, textHash } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { option, optionError } from '../../options/error.js';
import type { AscentOptions, FitSettings, WithFeatureCount } from '../options.js';
import { logCountFactorials } from './bound.js';
import { dataFacts } from './data-facts.js';
import { firstHyper, learnedHyper, tausToMatch } from './hyper.js';
import { RELAXATION, runLoop } from './loop.js';
import type { PreviousState } from './previous.js';
import { SHORTEST_FIT, startValues } from './start.js';

/** The fraction of the users in the sample; SMALL_SHARE from MANY_EDGES edges on, where a smaller sample is enough. */
const SHARE = 1 / 8;
const SMALL_SHARE = 1 / 16;
const MANY_EDGES = 4_000_000;
/** The warm phase on a sample ends at this change: more sweeps there do not raise the bound of the whole fit. */
const WARM_TOLERANCE = 3e-4;
/** Number of starts tried on the sample. */
const STARTS = 2;
/** Sweeps after the warm phase, before starts are compared: their bounds then have about the order of the whole fits. */
const COMPARED_SWEEPS = 10;
/** Fits with fewer edges take about a second, and a sample changes their bounds in either direction. */
const FEWEST_EDGES = 300_000;
/** Distance between the seeds of the starts: far from the seeds of restarts, which are consecutive. */
const SEED_STEP = 1_000_003;

/** Whether a fit starts on a sample: if `levels` asks for it or, by default, if it saves time. */
export function startsOnSample(
  engine: Pick<Engine, 'name'>,
  graph: BipartiteGraph,
  { levels, start, iterations }: FitSettings,
  { from }: Pick<AscentOptions, 'from'>,
): boolean {
  if (levels !== undefined && levels > 1) {
    if (start === 'cold')
      throw optionError`${option('levels')} ${String(levels)} does not go with ${option('start')} cold: a sample is fitted warm; leave out one of the two`;
    if (from)
      throw optionError`${option('levels')} ${String(levels)} does not go with ${option('from')}: the fit starts from the previous model; leave out one of the two`;
    return true;
  }
  if (levels !== undefined || start === 'cold' || from) return false;
  // A GPU sweeps over all data in less time than drawing and transferring a sample takes: at 100 million edges a
  // fit with a sample took 1.8 times as long. A sample does not pay for a short fit either.
  return engine.name !== 'gpu' && iterations >= SHORTEST_FIT && graph.edges >= FEWEST_EDGES;
}

/** A random fraction `share` of the users with all their items. Seed and id decide whether a user is drawn. */
export function sampleUsers(graph: BipartiteGraph, share: number, seed: number): BipartiteGraph {
  const random = randomStream(seed, STREAMS.levels);
  const { ids, count } = graph.users;
  const users = Uint8Array.from({ length: count }, (_, i) =>
    random.derive(...textHash(ids.at(i))).uniform() < share ? 1 : 0,
  );
  return selectVertices(graph, users, new Uint8Array(graph.items.count).fill(1));
}

/** The best of several starts on a sample, on the scale of all data; undefined if the sample has no edges. */
export async function fitSample(
  engine: Engine,
  graph: BipartiteGraph,
  settings: FitSettings,
  options: WithFeatureCount<AscentOptions>,
  seed: number,
): Promise<PreviousState | 'aborted' | undefined> {
  const sample = sampleUsers(graph, graph.edges < MANY_EDGES ? SHARE : SMALL_SHARE, seed);
  if (sample.edges === 0) return undefined;
  const kept = sample.users.count / graph.users.count;
  const { size } = settings.given.users;
  const coarse: FitSettings = {
    ...settings,
    // A given size is that of all data.
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
      { ...coarse, exactSweeps: COMPARED_SWEEPS, warmTolerance: WARM_TOLERANCE },
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
      // All data have 1/kept as many users as the sample, and the same items.
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
