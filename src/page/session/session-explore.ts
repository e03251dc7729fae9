// What is in the session's model: features, the map, items by name.

import { type Model, needPosterior } from '../../fit/model.js';
import { type DescribedFeature, modelFeatures } from '../../predict/features.js';
import { mapItems } from '../../predict/map/item-map.js';
import { once } from '../../predict/scoring/once.js';
import { packNames } from '../map/packed-names.js';
import type { Api, FoundItems, ItemMap, NearItem } from '../protocol.js';
import type { Task } from './session.js';
import { currentModel } from './session-model.js';
import { titleOf } from './session-titles.js';

export async function answerFeatures({ n }: Api['features'][0]): Promise<DescribedFeature[]> {
  return currentModel().recommender.features({ n });
}

export async function answerMap({ seed }: Api['map'][0], task: Task<'map'>): Promise<ItemMap> {
  const { model } = currentModel();
  needPosterior(model, 'maps of items');
  const { x, y, feature } = await mapItems(model, { seed, signal: task.signal, onProgress: task.onProgress });
  const { ids, count, degree } = model.items;
  return { x, y, feature, degree, names: packNames(count, (j) => ids.at(j)) };
}

export async function answerSimilar({ item, n }: Api['similar'][0]): Promise<NearItem[]> {
  const { model, recommender } = currentModel();
  return recommender.similar(item, { n }).map((near) => ({ ...near, at: model.items.ids.find(near.item) }));
}

/** The feature that explains most of each item's expected edges; made once for a model that has features. */
const mainFeatures = new WeakMap<Model, () => Uint16Array>();

function mainFeature(model: Model): (item: number) => number | undefined {
  if (model.type !== 'posterior') return () => undefined;
  const make = () => {
    const features = modelFeatures(model);
    return Uint16Array.from({ length: model.items.count }, (_, j) => features.main('items', j).feature);
  };
  const found = mainFeatures.get(model) ?? once(make);
  mainFeatures.set(model, found);
  return (item) => found()[item];
}

/** Items whose id or title contains the text, popular items first. Without a text: the popular items. */
export async function answerFind({ text, n, feature }: Api['find'][0]): Promise<FoundItems> {
  const { model } = currentModel();
  const wanted = text.trim().toLowerCase();
  const { ids, degree, count } = model.items;
  const own = mainFeature(model);
  /** First the item itself, then those that begin with the text, then the others. */
  const found: { at: number; place: number }[] = [];
  for (let at = 0; at < count; at++) {
    if (feature !== undefined && own(at) !== feature) continue;
    const place = wanted === '' ? 0 : placeOf(wanted, ids.at(at));
    if (place !== undefined) found.push({ at, place });
  }
  found.sort((a, b) => a.place - b.place || degree[b.at] - degree[a.at]);
  const items = found.slice(0, n).map(({ at }) => {
    const main = own(at);
    return {
      ...{ item: ids.at(at), users: degree[at], at },
      ...(main !== undefined && { feature: main }),
    };
  });
  return { items, total: found.length };
}

/** How well an item matches a text: −1 itself, 0 at the beginning, 1 within; undefined not at all. */
function placeOf(wanted: string, id: string): number | undefined {
  let best: number | undefined;
  for (const name of [id, titleOf(id)]) {
    const written = name?.toLowerCase();
    const at = written?.indexOf(wanted) ?? -1;
    if (at < 0) continue;
    const place = written === wanted ? -1 : Math.sign(at);
    if (best === undefined || place < best) best = place;
  }
  return best;
}
