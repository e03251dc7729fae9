import type { Baseline } from './baseline.js';
import { ease } from './ease.js';
import { ials } from './ials.js';
import { neighbours } from './neighbours.js';
import { popularity } from './popularity.js';

/** Recommenders to compare with, in the order in which they are fitted. A new one is added here and nowhere else. */
const LIST = [popularity, neighbours, ease, ials] as const;

export type BaselineName = (typeof LIST)[number]['name'];
export const BASELINES: readonly BaselineName[] = LIST.map(({ name }) => name);

export function baselineOf(name: BaselineName): Baseline<BaselineName> {
  return LIST.find((baseline) => baseline.name === name)!;
}

/** The title of a baseline by its name; of anything else the name itself. */
export function baselineTitle(name: string): string {
  return LIST.find((baseline) => baseline.name === name)?.title ?? name;
}
