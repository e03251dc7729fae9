import { signal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { DescribedFeature } from '../../predict/features.js';
import { noMapWords, noMapYetWords } from '../../report/words/page.js';
import { grouped, percent } from '../../text/numbers.js';
import { capital, many } from '../../text/phrases.js';
import { Button, set } from '../components/controls.js';
import { dark, useArrival } from '../components/hooks.js';
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
import { customer, go, isNew, itemTable, likes, model, names, opened, settings } from '../state.js';
import { answerOf, perform, work } from '../work.js';

const SHOWN = 25;
/** What was found in a model. It is kept while other steps are shown. */
interface Explored {
  readonly of: ModelSummary;
  readonly features?: readonly DescribedFeature[];
  readonly map?: ItemMap;
}
const explored = signal<Explored | undefined>(undefined);

/** The model whose features or map are asked for. */
const asking = signal<ModelSummary | undefined>(undefined);

/** Describes the features of a model and draws its map, if it has one. What is known already is not asked for again. */
async function explore(found: ModelSummary): Promise<void> {
  // A model may be replaced while its map waits for a fit.
  const known = () => (explored.value?.of === found ? explored.value : undefined);
  explored.value = known() ?? { of: found };
  asking.value = found;
  // The step is named because another one may be open when the features are ready.
  const own = { of: 'explore', replaces: 'same' } as const;
  const features = known()?.features ?? (await perform('What is in it?', 'features', { n: 10 }, own));
  if (features && known()) {
    explored.value = { ...known()!, features };
    if (canBeMapped(found)) {
      const map = await perform('Drawing the map.', 'map', { seed: settings.value.seed }, own);
      if (map && known()) explored.value = { ...known()!, map };
    }
  }
  if (asking.value === found) asking.value = undefined;
}

export default function Explore() {
  const found = model.value;
  const feature = useSignal<number | undefined>(undefined);
  const chosen = useSignal<{ readonly item: string; readonly at: number | undefined } | undefined>(undefined);
  const fromTable = useSignal<object | undefined>(undefined);
  const near = useSignal<readonly NearItem[]>([]);

  // The table may be far below the details of what is chosen in it.
  const place = useArrival<HTMLElement>(fromTable.value);
  // The array stays the same while its items do, so that the map is not drawn again.
  const around = useComputed(() => near.value.flatMap(({ at }) => at ?? []));
  useEffect(() => {
    if (found && explored.value?.of !== found) void explore(found);
  }, [found]);

  const { features, map } = explored.value?.of === found ? explored.value! : ({} as Partial<Explored>);
  const labels = useMemo(
    () =>
      map && itemTable.value
        ? packNames(map.x.length, (item) => titleOf(nameAt(map.names, item)) ?? '')
        : undefined,
    [map, itemTable.value],
  );
  if (!found) return null;
  /** Whether the visitor may ask again: a request was cancelled or failed. */
  const stopped = explored.value?.of === found && asking.value !== found;
  const choose = async (item: string, at: number | undefined) => {
    const now = { item, at };
    chosen.value = now;
    near.value = [];
    const list = await answerOf(ask('similar', { item, n: 8 }), 'explore');
    if (list && chosen.value === now) near.value = list;
  };
  const at = chosen.value?.at;
  const mappable = canBeMapped(found);
  const count = features?.length ?? found.features ?? 1;
  const colours = featureColours(count, dark.value);
  const items = (
    <Items
      feature={map && feature.value}
      learned={found.split && found.users}
      onChoose={(item, at) => {
        void choose(item, at);
        fromTable.value = chosen.value;
      }}
    />
  );
  return (
    <>
      <h1>What is in it?</h1>
      <p class="lead">
        {grouped(count)} features. The {names.value.items.many} of a feature tend to have the same{' '}
        {names.value.users.many}.
      </p>
      <div class="explore">
        <div class="place">
          {!mappable ? (
            <>
              {!found.served && <p class="note">{noMapWords(names.value, opened.value !== undefined)}</p>}
              {items}
            </>
          ) : map ? (
            <MapOfItems
              map={map}
              titles={labels}
              features={found.features ?? 1}
              noun={names.value.items.many}
              chosen={at}
              near={around.value}
              feature={feature.value}
              onChoose={(item) => choose(nameAt(map.names, item), item)}
            />
          ) : (
            <div class="map empty">
              <p class="quiet">
                {noMapYetWords(
                  stopped ? 'none' : work.value?.of === 'explore' ? 'drawn' : 'waits',
                  found.items,
                  names.value,
                )}
              </p>
              {stopped && <Button onClick={() => void explore(found)}>Draw the map</Button>}
            </div>
          )}
        </div>
        <div class="side">
          {chosen.value !== undefined && (
            <section class="chosen" aria-live="polite" ref={place}>
              <h2>{itemName(chosen.value.item)}</h2>
              <p class="quiet">
                {at !== undefined && map
                  ? `${grouped(map.degree[at])} of ${many(found.users, names.value.users)}${found.split ? ' in the training part' : ''}. `
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
                    isNew.value = true;
                    go('recommend');
                  }}
                >
                  Recommend for somebody who has it
                </Button>
              </p>
            </section>
          )}
          <h2>
            {features ? grouped(count) : ''} <Term of="features">features</Term>
          </h2>
          {!mappable && !features && stopped && (
            <Button onClick={() => void explore(found)}>Describe the features</Button>
          )}
          <ul class="features" tabIndex={0} aria-label={`${grouped(count)} features`}>
            {features?.map((one) => {
              const at = one.feature - 1;
              const words = <FeatureWords feature={one} />;
              return (
                <li key={at} class={mappable ? undefined : 'feature'}>
                  {mappable ? (
                    <Button
                      class="plain feature"
                      aria-pressed={feature.value === at}
                      onClick={() => set(feature, feature.value === at ? undefined : at)}
                    >
                      <svg viewBox="0 0 10 10" aria-hidden="true">
                        <circle cx="5" cy="5" r="5" fill={cssColour(colours, at)} />
                      </svg>
                      {words}
                    </Button>
                  ) : (
                    words
                  )}
                </li>
              );
            })}
          </ul>
        </div>
      </div>
      {mappable && (
        <>
          <h2>{capital(names.value.items.many)}</h2>
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
  feature,
  learned,
  onChoose,
}: {
  readonly feature: number | undefined;
  /** Users that the model learned from, if some were held out: an item’s users are counted among them. */
  readonly learned: number | undefined;
  onChoose(item: string, at: number | undefined): void;
}) {
  const { items, users } = names.value;
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
