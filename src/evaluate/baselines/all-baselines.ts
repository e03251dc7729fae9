import type { BaselineName } from '../../options/names.js';
import type { Baseline } from './baseline.js';
import { ease } from './ease.js';
import { filter } from './graph-filter.js';
import { hpf } from './hpf.js';
import { ials } from './ials.js';
import { itemKnn } from './item-knn.js';
import { popularity } from './popularity.js';
import { slim } from './slim.js';

/** The baseline of each name. A new name does not compile without an entry here. */
const BY_NAME: Readonly<{ [N in BaselineName]: Baseline<N> }> = {
  popularity,
  knn: itemKnn,
  filter,
  ease,
  slim,
  ials,
  hpf,
};

export function baselineOf(name: BaselineName): Baseline<BaselineName> {
  return BY_NAME[name];
}

/** The title of a baseline; any other name is its own title. */
export function baselineTitle(name: string): string {
  return Object.hasOwn(BY_NAME, name) ? BY_NAME[name as BaselineName].title : name;
}
