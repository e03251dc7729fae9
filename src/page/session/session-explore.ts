// What is in the session's model: features, the map, items by name.

import { catalogueOf } from '../../attributes/info.js';
import { type Model, needPosterior } from '../../fit/model.js';
import { byFallingValue } from '../../math/nth-largest.js';
import { once } from '../../math/once.js';
import { type DescribedFeature, mainFeatures } from '../../predict/features.js';
import { mapItems } from '../../predict/map/item-map.js';
import { createItemSearch, type SearchItems } from '../../predict/search-index.js';
import { packNames } from '../map/packed-names.js';
import type { Api, FoundItems, ItemMap, NearItem } from '../protocol.js';
import type { Task } from './session.js';
import { currentTitles } from './session-item-table.js';
import { currentModel } from './session-model.js';

export async function answerFeatures({ n }: Api['features'][0]): Promise<DescribedFeature[]> {
  return currentModel().recommender.features({ n });
}

export async function answerMap({ seed }: Api['map'][0], task: Task): Promise<ItemMap> {
  const { model } = currentModel();
  needPosterior(model, 'maps of items');
  const { x, y, feature } = await mapItems(model, { seed, ...task });
  const { ids, count, degree } = model.items;
  return { x, y, feature, degree, names: packNames(count, (j) => ids.at(j)) };
}

export async function answerSimilar({ item, n }: Api['similar'][0]): Promise<NearItem[]> {
  const { model, recommender } = currentModel();
  return recommender.similar(item, { n }).map((near) => {
    const at = model.items.ids.find(near.item);
    return { ...near, ...(at >= 0 && { at }) };
  });
}

/** The main feature of each item; made once for a model that has features. */
const featuresMade = new WeakMap<Model, () => Uint16Array>();

function mainFeature(model: Model): (item: number) => number | undefined {
  if (model.type !== 'posterior') return () => undefined;
  const found = featuresMade.get(model) ?? once(() => mainFeatures(model));
  featuresMade.set(model, found);
  return (item) => found()[item];
}

/** The search of a model's items. It is made again when other titles come. */
let made:
  | {
      readonly model: Model;
      readonly titles: ReadonlyMap<string, string>;
      readonly search: SearchItems;
    }
  | undefined;

function searchOf(model: Model): SearchItems {
  const titles = currentTitles();
  if (made?.model !== model || made.titles !== titles) {
    const { ids, degree, count } = catalogueOf(model);
    const names =
      titles.size > 0 ? Array.from({ length: count }, (_, item) => titles.get(ids.at(item)) ?? '') : [];
    made = { model, titles, search: createItemSearch(ids, names, degree) };
  }
  return made.search;
}

/** Items by words of their id or title, found as everywhere else; items without edges, too. Without a text: the popular items. */
export async function answerFind({ text, n, feature }: Api['find'][0]): Promise<FoundItems> {
  const { model } = currentModel();
  const { ids, degree, count } = catalogueOf(model);
  const seen = model.items.count;
  const own = mainFeature(model);
  const isWanted = (at: number) => feature === undefined || own(at) === feature;
  // One more than is shown says whether there are more.
  const some = feature === undefined ? n + 1 : count;
  const all =
    text.trim() === '' ? [...byFallingValue(degree.subarray(0, seen))] : searchOf(model)(text, some);
  const found = all.filter(isWanted);
  const isCounted = text.trim() === '' || found.length <= n || feature !== undefined;
  const items = found.slice(0, n).map((at) => {
    const main = own(at);
    return {
      ...{ item: ids.at(at), users: degree[at] },
      // Items without edges are not on the map.
      ...(at < seen && { at }),
      ...(main !== undefined && { feature: main }),
    };
  });
  return { items, total: isCounted ? found.length : undefined };
}
