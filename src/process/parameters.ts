// Checks the parameters of a simulation and predicts the size of the graph, before any work.

import { InputError } from '../errors.js';
import { MAX_EDGES } from '../graph/build.js';
import { type BySide, bySide, otherSide, SIDES } from '../graph/graph.js';
import { atomsAbove, massVariance, meanMass } from './ggp.js';
import { chooseCut, type Reach, type SidePrior } from './unseen.js';

export interface ModelParameters {
  readonly users: SidePrior;
  readonly items: SidePrior;
  /** Number of features, K. */
  readonly features: number;
}

/** The paper's simulated set, `@simulated`. */
export const PAPER_SIMULATION: ModelParameters = modelOfSize(1200);
/** The same model at sizes 120, `@simulated-small`. */
export const SMALL_SIMULATION: ModelParameters = modelOfSize(120);

function modelOfSize(size: number): ModelParameters {
  const side = Object.freeze({ sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size });
  return Object.freeze({ users: side, items: side, features: 30 });
}

export function featureMass(side: SidePrior): number {
  return (meanMass(side) * side.shape) / side.rate;
}

/** The moments of a side's mass: all features are alike, but not independent. */
function reachOf(side: SidePrior, features: number): Reach {
  const mean = featureMass(side);
  const { shape, rate } = side;
  const atoms = massVariance(side);
  const squares = features * (mean * mean + (atoms * shape * (shape + 1)) / (rate * rate));
  const product = mean * mean + (atoms * shape * shape) / (rate * rate);
  return {
    mean: new Float64Array(features).fill(mean),
    squares,
    all: squares + features * (features - 1) * product,
  };
}

/** Memory of the alias tables for each atom and feature of a side. */
const BYTES_PER_ATOM_AND_FEATURE = 20;
const MOST_BYTES = 8 * 2 ** 30;

/**
 * Predicts the size of a simulation. Each parameter is in its range already. Throws an InputError that names the
 * parameters and the expected number of edges if the graph would be too large.
 */
export function expectSimulation(parameters: ModelParameters, tolerance: number) {
  const { users, items, features } = parameters;
  /** Edges before equal ones merge, s·α·K at the paper's settings: proportional to the work. */
  const latentEdges = features * featureMass(users) * featureMass(items);
  const said = `these parameters give ${round(latentEdges)} edges in expectation, counting repeated ones`;
  if (!(latentEdges < MAX_EDGES)) {
    throw new InputError(
      `${said}; at most ${round(MAX_EDGES)} are possible: make size of users (${users.size}) or of items (${items.size}), ` +
        `or features (${features}), smaller`,
    );
  }
  const { cut, atoms } = expectAtoms(parameters, tolerance);
  for (const side of SIDES) {
    if (atoms[side] * features * BYTES_PER_ATOM_AND_FEATURE > MOST_BYTES) {
      throw new InputError(
        `${said}, but need ${round(atoms[side])} atoms of ${side}, more than memory holds: make sigma ` +
          `(${parameters[side].sigma}) or size (${parameters[side].size}) of ${side} or features (${features}) smaller, ` +
          `or tolerance (${tolerance}) larger`,
      );
    }
  }
  return { latentEdges, atoms, cut };
}

/** The cuts, and the expected number of atoms above them. */
export function expectAtoms(parameters: ModelParameters, tolerance: number) {
  const { features } = parameters;
  const cut = bySide((side) =>
    chooseCut(parameters[side], reachOf(parameters[otherSide(side)], features), tolerance),
  );
  return { cut, atoms: bySide((side) => atomsAbove(parameters[side], cut[side])) };
}

/** Random draws of a simulation: the features of all atoms, and the edges. */
export function simulationWork(
  features: number,
  { atoms, latentEdges }: { readonly atoms: BySide<number>; readonly latentEdges: number },
): number {
  return features * (atoms.users + atoms.items) + latentEdges;
}

function round(value: number): string {
  return value < 1e6 ? String(Math.round(value)) : value.toPrecision(3);
}
