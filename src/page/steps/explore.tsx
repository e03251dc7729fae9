import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { DescribedFeature } from '../../predict/features.js';
import { grouped, percent } from '../../text/numbers.js';
import { capital } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { ask } from '../engine.js';
import { MapOfItems } from '../map/map.js';
import { cssColour, featureColours } from '../map/palette.js';
import { useDark } from '../parts/dark.js';
import { itemName } from '../parts/item-name.js';
import { Table } from '../parts/table.js';
import type { FoundItem, ItemMap } from '../protocol.js';
import { go, likes, model, problem, settings } from '../state.js';
import { perform, work } from '../work.js';

const SHOWN = 25;
const kept: {
  source?: object;
  features?: readonly DescribedFeature[] | undefined;
  map?: ItemMap | undefined;
} = {};

/** What the model found: features, a map, and a table, all pointing at each other. */
export default function Explore() {
  const found = model.value;
  const features = useSignal<readonly DescribedFeature[] | undefined>(undefined);
  const map = useSignal<ItemMap | undefined>(undefined);
  const feature = useSignal<number | undefined>(undefined);
  const chosen = useSignal<string | undefined>(undefined);
  const near = useSignal<readonly { item: string; similarity: number }[]>([]);
  const text = useSignal('');

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
      if (found.served) return;
      const drawn = await perform('Drawing the map.', 'map', { seed: settings.value.seed });
      if (drawn) map.value = kept.map = drawn;
    })();
  }, [found]);

  const dark = useDark();
  const index = useMemo(() => new Map(map.value?.ids.map((id, j) => [id, j] as const)), [map.value]);
  if (!found) return null;
  const { names } = found;
  const choose = (item: string) => {
    chosen.value = item;
    near.value = [];
    ask('similar', { item, n: 8 }).answer.then(
      (list) => {
        if (chosen.value === item) near.value = list;
      },
      (error) => {
        problem.value = error.message;
      },
    );
  };
  const place = chosen.value === undefined ? undefined : index.get(chosen.value);
  const colours = featureColours(found.features ?? 1, dark);
  return (
    <>
      <h1>What is in it?</h1>
      <p class="lead">
        {found.features} features: {names.items.many} that go to the same {names.users.many}.
      </p>
      <div class="explore">
        <div class="place">
          {found.served ? (
            <ServedItems names={names} onChoose={choose} />
          ) : map.value ? (
            <MapOfItems
              map={map.value}
              features={found.features ?? 1}
              noun={names.items.many}
              chosen={place}
              near={near.value.map(({ item }) => index.get(item) ?? 0)}
              feature={feature.value}
              onChoose={(item) => choose(map.value!.ids[item])}
            />
          ) : (
            <div class="map empty">
              <p class="quiet">
                {work.value
                  ? 'The map is being drawn.'
                  : `A map of ${grouped(found.items)} ${names.items.many} can be drawn.`}
              </p>
              {!work.value && features.value && (
                <button
                  type="button"
                  onClick={async () => {
                    const drawn = await perform('Drawing the map.', 'map', { seed: settings.value.seed });
                    if (drawn) map.value = kept.map = drawn;
                  }}
                >
                  Draw the map
                </button>
              )}
            </div>
          )}
        </div>
        <div class="side">
          {chosen.value !== undefined && (
            <section class="chosen" aria-live="polite">
              <h2>{itemName(chosen.value)}</h2>
              <p class="quiet">
                {place !== undefined && map.value
                  ? `${grouped(map.value.degree[place])} ${names.users.many}. Nearest:`
                  : 'Nearest:'}
              </p>
              <ol>
                {near.value.map(({ item, similarity }) => (
                  <li key={item}>
                    <button type="button" class="plain" onClick={() => choose(item)}>
                      {itemName(item)}
                    </button>{' '}
                    <span class="quiet">{percent(similarity)}</span>
                  </li>
                ))}
              </ol>
              <p class="buttons">
                <button
                  type="button"
                  onClick={() => {
                    likes.value = [...new Set([...likes.value, chosen.value!])];
                    go('recommend');
                  }}
                >
                  What else for somebody who has it?
                </button>
              </p>
            </section>
          )}
          <h2>Features</h2>
          <ul class="features">
            {features.value?.map(({ feature: number, share, items }) => (
              <li key={number}>
                <button
                  type="button"
                  class="plain"
                  aria-pressed={feature.value === number - 1}
                  onClick={() => {
                    feature.value = feature.value === number - 1 ? undefined : number - 1;
                  }}
                >
                  <svg viewBox="0 0 10 10" aria-hidden="true">
                    <circle cx="5" cy="5" r="5" fill={cssColour(colours, number - 1)} />
                  </svg>
                  <span>
                    <b>{percent(share)}</b> {items.map(({ item }) => itemName(item, 30)).join(', ')}
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </div>
      </div>
      {map.value && (
        <Items
          map={map.value}
          noun={names.items}
          users={names.users.many}
          feature={feature.value}
          text={text.value}
          onText={(value) => {
            text.value = value;
          }}
          onChoose={(item) => choose(map.value!.ids[item])}
        />
      )}
    </>
  );
}

/** Items of a model that is elsewhere: a search of the server, instead of a map of all of them. */
function ServedItems({ names, onChoose }: { readonly names: SideNames; onChoose(item: string): void }) {
  const text = useSignal('');
  const items = useSignal<readonly FoundItem[]>([]);
  useEffect(() => {
    const asked = ask('find', { text: text.value, n: SHOWN });
    asked.answer.then(
      (list) => {
        items.value = list;
      },
      (error) => {
        if (error.name !== 'AbortError') problem.value = error.message;
      },
    );
    return asked.cancel;
  }, [text.value]);
  const common = text.value.trim() === '';
  return (
    <>
      <p class="search">
        <label for="search">Search the {names.items.many}</label>
        <input
          id="search"
          type="search"
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
      </p>
      <Table
        columns={[
          { label: capital(names.items.one) },
          ...(common ? [{ label: names.users.many, numeric: true }] : []),
        ]}
        rows={items.value.map(({ item, users }) => [
          <button type="button" class="plain" key={item} onClick={() => onChoose(item)}>
            {itemName(item)}
          </button>,
          ...(common ? [grouped(users ?? 0)] : []),
        ])}
      />
    </>
  );
}

function Items({
  map,
  noun,
  users,
  feature,
  text,
  onText,
  onChoose,
}: {
  readonly map: ItemMap;
  readonly noun: { readonly one: string; readonly many: string };
  readonly users: string;
  readonly feature: number | undefined;
  readonly text: string;
  onText(text: string): void;
  onChoose(item: number): void;
}) {
  const found = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    const matching: number[] = [];
    for (let j = 0; j < map.ids.length; j++) {
      if (feature !== undefined && map.feature[j] !== feature) continue;
      if (wanted === '' || map.ids[j].toLowerCase().includes(wanted)) matching.push(j);
    }
    return matching.sort((a, b) => map.degree[b] - map.degree[a]);
  }, [map, text, feature]);
  return (
    <>
      <h2>{capital(noun.many)}</h2>
      <p class="search">
        <label for="search">Search the {noun.many}</label>
        <input
          id="search"
          type="search"
          value={text}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      </p>
      <p class="quiet" role="status">
        {grouped(found.length)} {noun.many}
        {feature === undefined ? '' : ' of the chosen feature'}
        {found.length > SHOWN ? `, the first ${SHOWN} shown` : ''}.
      </p>
      <Table
        columns={[
          { label: capital(noun.one) },
          { label: users, numeric: true },
          { label: 'feature', numeric: true },
        ]}
        rows={found.slice(0, SHOWN).map((j) => [
          <button type="button" class="plain" key={j} onClick={() => onChoose(j)}>
            {itemName(map.ids[j])}
          </button>,
          grouped(map.degree[j]),
          grouped(map.feature[j] + 1),
        ])}
      />
    </>
  );
}
