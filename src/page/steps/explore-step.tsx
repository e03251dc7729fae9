import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { DescribedFeature } from '../../predict/features.js';
import { noMapWords } from '../../report/words/page.js';
import { grouped, percent } from '../../text/numbers.js';
import { capital, many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { Button, set } from '../components/controls.js';
import { useDark } from '../components/hooks.js';
import { itemName, titleOf } from '../components/item-name.js';
import { ItemTableField } from '../components/item-table-field.js';
import { SearchField, useFound } from '../components/search.js';
import { Table } from '../components/table.js';
import { Term } from '../components/term.js';
import { MapOfItems } from '../map/item-map-view.js';
import { nameAt, packNames } from '../map/packed-names.js';
import { cssColour, featureColours } from '../map/palette.js';
import type { FoundItems, ItemMap, ModelSummary, NearItem } from '../protocol.js';
import { ask } from '../session-client.js';
import { customer, go, itemTable, likes, model, opened, settings } from '../state.js';
import { answerOf, perform, work } from '../work.js';

const SHOWN = 25;
const kept: {
  source?: object;
  features?: readonly DescribedFeature[] | undefined;
  map?: ItemMap | undefined;
} = {};

/** The features, the map and the table of items. */
export default function Explore() {
  const found = model.value;
  const features = useSignal<readonly DescribedFeature[] | undefined>(undefined);
  const map = useSignal<ItemMap | undefined>(undefined);
  const feature = useSignal<number | undefined>(undefined);
  const chosen = useSignal<{ readonly item: string; readonly at: number | undefined } | undefined>(undefined);
  const near = useSignal<readonly NearItem[]>([]);

  // The array stays the same while its items do, so that the map is not drawn again.
  const around = useComputed(() => near.value.flatMap(({ at }) => at ?? []));
  const draw = async () => {
    // The step is named because another one may be open when the features are ready.
    const drawn = await perform('Drawing the map.', 'map', { seed: settings.value.seed }, { of: 'explore' });
    if (drawn) map.value = kept.map = drawn;
  };

  useEffect(() => {
    if (!found) return;
    if (kept.source === found) {
      features.value = kept.features;
      map.value = kept.map;
      return;
    }
    kept.source = found;
    kept.features = undefined;
    kept.map = undefined;
    void (async () => {
      const described = await perform('What is in it?', 'features', { n: 10 });
      if (!described) return;
      features.value = kept.features = described;
      if (canBeMapped(found)) await draw();
    })();
  }, [found]);

  const dark = useDark();
  const labels = useMemo(
    () =>
      map.value && itemTable.value
        ? packNames(map.value.x.length, (item) => titleOf(nameAt(map.value!.names, item)) ?? '')
        : undefined,
    [map.value, itemTable.value],
  );
  if (!found) return null;
  const { names } = found;
  const choose = async (item: string, at: number | undefined) => {
    const now = { item, at };
    chosen.value = now;
    near.value = [];
    const list = await answerOf(ask('similar', { item, n: 8 }), 'explore');
    if (list && chosen.value === now) near.value = list;
  };
  const place = chosen.value?.at;
  const mappable = canBeMapped(found);
  const count = features.value?.length ?? found.features ?? 1;
  const colours = featureColours(count, dark);
  const items = (
    <Items
      names={names}
      feature={map.value && feature.value}
      learned={found.split && found.users}
      onChoose={choose}
    />
  );
  return (
    <>
      <h1>What is in it?</h1>
      <p class="lead">
        {grouped(count)} features. The {names.items.many} of a feature tend to have the same{' '}
        {names.users.many}.
      </p>
      <div class="explore">
        <div class="place">
          {!mappable ? (
            <>
              {!found.served && <p class="note">{noMapWords(names, opened.value !== undefined)}</p>}
              {items}
            </>
          ) : map.value ? (
            <MapOfItems
              map={map.value}
              titles={labels}
              features={found.features ?? 1}
              noun={names.items.many}
              chosen={place}
              near={around.value}
              feature={feature.value}
              onChoose={(item) => choose(nameAt(map.value!.names, item), item)}
            />
          ) : (
            <div class="map empty">
              <p class="quiet">
                {work.value
                  ? 'The map is being drawn.'
                  : `A map of ${grouped(found.items)} ${names.items.many} can be drawn.`}
              </p>
              {!work.value && features.value && <Button onClick={() => void draw()}>Draw the map</Button>}
            </div>
          )}
        </div>
        <div class="side">
          {chosen.value !== undefined && (
            <section class="chosen" aria-live="polite">
              <h2>{itemName(chosen.value.item)}</h2>
              <p class="quiet">
                {place !== undefined && map.value
                  ? `${grouped(map.value.degree[place])} of ${many(found.users, names.users)}${found.split ? ' in the training part' : ''}. `
                  : ''}
                Most similar (100 % would be the same):
              </p>
              <ol>
                {near.value.map(({ item, similarity, at }) => (
                  <li key={item}>
                    <Button class="plain" onClick={() => choose(item, at)}>
                      {itemName(item)}
                    </Button>{' '}
                    <span class="quiet">{percent(similarity)}</span>
                  </li>
                ))}
              </ol>
              <p class="buttons">
                <Button
                  onClick={() => {
                    likes.value = [...new Set([...likes.value, chosen.value!.item])];
                    customer.value = undefined;
                    go('recommend');
                  }}
                >
                  Recommend for somebody who has it
                </Button>
              </p>
            </section>
          )}
          <h2>
            {features.value ? grouped(count) : ''} <Term of="features">features</Term>
          </h2>
          <ul class="features" tabIndex={0} aria-label={`${grouped(count)} features`}>
            {features.value?.map((one) => {
              const number = one.feature;
              if (!mappable) {
                return (
                  <li key={number} class="feature">
                    <FeatureWords feature={one} />
                  </li>
                );
              }
              return (
                <li key={number}>
                  <Button
                    class="plain feature"
                    aria-pressed={feature.value === number - 1}
                    onClick={() => set(feature, feature.value === number - 1 ? undefined : number - 1)}
                  >
                    <svg viewBox="0 0 10 10" aria-hidden="true">
                      <circle cx="5" cy="5" r="5" fill={cssColour(colours, number - 1)} />
                    </svg>
                    <FeatureWords feature={one} />
                  </Button>
                </li>
              );
            })}
          </ul>
        </div>
      </div>
      {mappable && (
        <>
          <h2>{capital(names.items.many)}</h2>
          {items}
        </>
      )}
      <ItemTableField />
    </>
  );
}

/** Whether a map can be drawn: it needs a posterior in this tab. */
function canBeMapped({ purpose, served }: ModelSummary): boolean {
  return purpose === 'understand' && !served;
}

/** A feature: its number, its share and its items. */
function FeatureWords({ feature: { feature, share, items } }: { readonly feature: DescribedFeature }) {
  return (
    <span>
      <b>Feature {feature}</b> <small class="quiet">{percent(share)} of the edges</small>{' '}
      {items.map(({ item }) => itemName(item, 40)).join(', ')}
    </span>
  );
}

/** All items, popular ones first, each with its main feature. */
function Items({
  names: { items, users },
  feature,
  learned,
  onChoose,
}: {
  readonly names: SideNames;
  readonly feature: number | undefined;
  /** Users that the model learned from, if some were held out: an item’s users are counted among them. */
  readonly learned: number | undefined;
  onChoose(item: string, at: number | undefined): void;
}) {
  const text = useSignal('');
  const found = useFound(text.value, SHOWN, feature);
  const counted = found?.items.some((one) => one.users !== undefined) ?? false;
  const featured = found?.items.some((one) => one.feature !== undefined) ?? false;
  return (
    <>
      <SearchField label={`Search the ${items.many}`} text={text} />
      <p class="quiet" role="status">
        {found && foundWords(found, items.many, feature)}
        {counted &&
          learned !== undefined &&
          ` Their ${users.many} are counted among the ${grouped(learned)} that the model learned from.`}
      </p>
      <Table
        columns={[
          { label: capital(items.one) },
          ...(counted ? [{ label: capital(users.many), numeric: true }] : []),
          ...(featured ? [{ label: 'Feature', numeric: true }] : []),
        ]}
        rows={(found?.items ?? []).map(({ item, users: count, feature: own, at }) => [
          <Button class="plain" key={item} onClick={() => onChoose(item, at)}>
            {itemName(item)}
          </Button>,
          ...(counted ? [grouped(count ?? 0)] : []),
          ...(featured ? [grouped((own ?? 0) + 1)] : []),
        ])}
      />
    </>
  );
}

function foundWords({ items, total }: FoundItems, noun: string, feature: number | undefined): string {
  const own = feature === undefined ? undefined : `with main feature ${grouped(feature + 1)}`;
  if (items.length === 0) return `No ${noun} ${own ? `${own} ` : ''}contain this text.`;
  if (total === undefined) return '';
  const of = own ? ` ${own}` : '';
  return `${grouped(total)} ${noun}${of}${total > items.length ? `, the first ${items.length} shown` : ''}.`;
}
