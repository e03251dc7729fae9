import { BASELINES, type BaselineName } from '../../options/names.js';
import type { Baseline } from './baseline.js';
import { ease } from './ease.js';
import { hpf } from './hpf.js';
import { ials } from './ials.js';
import { neighbours } from './item-knn.js';
import { popularity } from './popularity.js';
import { slim } from './slim.js';

export { BASELINES, type BaselineName };

/** Every name that the options know has its baseline: a new name does not compile without one. */
const BY_NAME: Readonly<{ [N in BaselineName]: Baseline<N> }> = {
  popularity,
  knn: neighbours,
  ease,
  slim,
  ials,
  hpf,
};

export function baselineOf(name: BaselineName): Baseline<BaselineName> {
  return BY_NAME[name];
}

/** The title of a baseline by its name; of anything else the name itself. */
export function baselineTitle(name: string): string {
  return Object.hasOwn(BY_NAME, name) ? BY_NAME[name as BaselineName].title : name;
}
