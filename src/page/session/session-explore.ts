// What is in the session's model: features, the map, items by name.

import { catalogueOf } from '../../attributes/info.js';
import { needPosterior } from '../../fit/model.js';
import { byFallingValue } from '../../math/nth-largest.js';
import type { DescribedFeature } from '../../predict/features.js';
import { mapItems } from '../../predict/map/item-map.js';
import { packNames } from '../map/packed-names.js';
import type { Api, FoundItems, ItemMap, NearItem } from '../protocol.js';
import type { Task } from './session.js';
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
    return { ...near, at: at < 0 ? undefined : at };
  });
}

/** Items by words of their id or title, found as everywhere else; items without edges, too. Without a text: the popular items. */
export async function answerFind({ text, n, feature }: Api['find'][0]): Promise<FoundItems> {
  const { model, search, mainFeatures } = currentModel();
  const { ids, degree, count } = catalogueOf(model);
  const seen = model.items.count;
  const own = mainFeatures();
  const isWanted = (at: number) => feature === undefined || own?.[at] === feature;
  // One more than is shown says whether there are more.
  const some = feature === undefined ? n + 1 : count;
  const all = text.trim() === '' ? [...byFallingValue(degree.subarray(0, seen))] : search()(text, some);
  const found = all.filter(isWanted);
  const isCounted = text.trim() === '' || found.length <= n || feature !== undefined;
  const items = found.slice(0, n).map((at) => ({
    item: ids.at(at),
    users: degree[at],
    // Items without edges are not on the map.
    at: at < seen ? at : undefined,
    feature: own?.[at],
  }));
  return { items, total: isCounted ? found.length : undefined };
}
