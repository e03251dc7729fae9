import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { PURPOSE_TITLES } from '../../report/words/page.js';
import { grouped } from '../../text/numbers.js';
import { article, capital, many } from '../../text/phrases.js';
import { shown } from '../../text/untrusted.js';
import { FilterField } from '../components/filter-field.js';
import { itemName } from '../components/item-name.js';
import { ItemTableField } from '../components/item-table-field.js';
import { NumberOption } from '../components/option.js';
import { RecommendedList } from '../components/recommended-list.js';
import { save } from '../components/save.js';
import { SearchField, useFound, useFoundUsers } from '../components/search.js';
import { type Answer, type Asker, type ModelSummary, PURPOSES } from '../protocol.js';
import { ask } from '../session-client.js';
import {
  comparison,
  complain,
  customer,
  filter,
  itemTable,
  likes,
  lister,
  model,
  models,
  opened,
  preferred,
  settings,
} from '../state.js';
import { perform, work } from '../work.js';

const OFFERED = 24;

/** A user or some items on the left, and the list with reasons and confidence on the right. */
export default function Recommend() {
  const found = model.value;
  const answer = useSignal<Answer | undefined>(undefined);
  const open = useSignal<string | undefined>(undefined);
  const isNew = useSignal(likes.peek().length > 0 && customer.peek() === undefined);
  const refused = useSignal<string | undefined>(undefined);
  const by = lister.value;
  const { n } = settings.value;
  const condition = filter.value || undefined;

  const knowsUsers = found !== undefined && !found.served && (opened.value?.users ?? found.users) > 0;
  const forNew = isNew.value || !knowsUsers;

  useEffect(() => {
    answer.value = undefined;
    refused.value = undefined;
    const asker = askerOf(forNew);
    if (!asker) return undefined;
    let gone = false;
    const show = (list: Answer) => {
      if (!gone) answer.value = list;
    };
    const asked = ask('recommend', { asker, n, by, filter: condition }, { onPartial: show });
    asked.answer.then(show, (error) => {
      if (gone || error.name === 'AbortError') return;
      if (condition) refused.value = error.message;
      else complain(error.message, 'recommend');
    });
    return () => {
      gone = true;
      asked.cancel();
    };
  }, [likes.value, customer.value, forNew, found, by, n, condition, itemTable.value]);

  if (!found) return null;
  const { items, users } = found.names;
  return (
    <>
      <h1>What would it recommend?</h1>
      <p class="lead">
        {forNew
          ? `Click the ${items.many} that a new ${users.one} has.`
          : `Find ${article(users.one)} by id.`}{' '}
        The list appears immediately, with its reasons and its confidence.
      </p>
      <div class="asking">
        {knowsUsers && (
          <fieldset class="switch">
            <legend>Recommend for</legend>
            {([false, true] as const).map((value) => (
              <button
                type="button"
                key={String(value)}
                aria-pressed={forNew === value}
                onClick={() => {
                  isNew.value = value;
                }}
              >
                {value ? 'Somebody new' : capital(article(users.one))}
              </button>
            ))}
          </fieldset>
        )}
        <Lister />
      </div>
      {/* Without titles the lists show codes, so the table is asked for before them. */}
      {!itemTable.value && <ItemTableField />}
      <FilterField names={found.names} problem={refused.value} />
      <div class="recommend">
        {forNew ? <ChooseItems found={found} /> : <ChooseUser found={found} has={answer.value?.has} />}
        <section aria-label="Recommendations" aria-live="polite">
          {answer.value ? (
            <RecommendedList
              answer={answer.value}
              user={forNew ? `new ${users.one}` : (customer.value ?? '')}
              names={found.names}
              isRate={models.value[by]?.type === 'posterior'}
              where={found.served ? 'by the server' : 'in this tab'}
              open={open.value}
              onOpen={(item) => {
                open.value = open.value === item ? undefined : item;
              }}
            />
          ) : (
            <p class="waiting quiet">
              {refused.value !== undefined
                ? 'The filter must be corrected first.'
                : forNew
                  ? `Nothing is chosen yet. The number after each name says how many ${users.many} have it.`
                  : `Nobody is chosen yet. The number after each id says how many ${items.many} this ${users.one} has.`}
            </p>
          )}
        </section>
      </div>
      {itemTable.value && <ItemTableField />}
      {knowsUsers && <AllLists found={found} />}
    </>
  );
}

/** The one to recommend for, if somebody is chosen. */
function askerOf(isNew: boolean): Asker | undefined {
  if (isNew) return likes.value.length > 0 ? { likes: likes.value } : undefined;
  return customer.value === undefined ? undefined : { user: customer.value };
}

/** Which model makes the lists, if there are two. */
function Lister() {
  const ready = PURPOSES.filter((purpose) => models.value[purpose]);
  if (ready.length < 2) return null;
  const best = comparison.value?.best;
  return (
    <label class="lister">
      Lists by{' '}
      <select
        value={lister.value}
        onChange={(event) => {
          preferred.value = event.currentTarget.value as (typeof ready)[number];
        }}
      >
        {ready.map((purpose) => (
          <option value={purpose} key={purpose}>
            {PURPOSE_TITLES[purpose]}
            {purpose === best ? ', better on held-out users' : ''}
          </option>
        ))}
      </select>
    </label>
  );
}

function Chips({ children }: { readonly children: ComponentChildren }) {
  return <ul class="chips">{children}</ul>;
}

/** Finds a user by id, and shows what the user has. */
function ChooseUser({
  found: {
    names: { users, items },
  },
  has,
}: {
  readonly found: ModelSummary;
  readonly has: Answer['has'] | undefined;
}) {
  const text = useSignal('');
  const offered = useFoundUsers(text.value, OFFERED);
  const chosen = customer.value;
  return (
    <section aria-label={`${users.many} to choose from`}>
      <SearchField label={`Find ${article(users.one)}`} text={text} />
      {chosen !== undefined && (
        <>
          <h2>
            {capital(users.one)} {shown(chosen)}
            {has && ` has ${many(has.total, items)}`}
          </h2>
          {has && (
            <Chips>
              {has.items.map((item) => (
                <li key={item} class="chip">
                  {itemName(item, 30)}
                </li>
              ))}
              {has.total > has.items.length && (
                <li class="quiet">and {grouped(has.total - has.items.length)} more</li>
              )}
            </Chips>
          )}
        </>
      )}
      <h2>{text.value.trim() === '' ? capital(users.many) : 'Found'}</h2>
      {offered?.users.length === 0 && <p class="quiet">No {users.many} have this text in their id.</p>}
      <Chips>
        {(offered?.users ?? []).map(({ user, items: count }) => (
          <li key={user}>
            <button
              type="button"
              class={user === chosen ? 'on' : undefined}
              aria-pressed={user === chosen}
              onClick={() => {
                customer.value = user;
              }}
            >
              {shown(user, 30)} <small>{grouped(count)}</small>
            </button>
          </li>
        ))}
      </Chips>
      {offered && offered.total > offered.users.length && (
        <p class="quiet">
          {grouped(offered.total)} {users.many}, the first {offered.users.length} shown.
        </p>
      )}
    </section>
  );
}

/** The items that somebody new has. */
function ChooseItems({
  found: {
    names: { items },
  },
}: {
  readonly found: ModelSummary;
}) {
  const text = useSignal('');
  const offered = useFound(text.value, OFFERED);
  const toggle = (item: string) => {
    likes.value = likes.value.includes(item)
      ? likes.value.filter((liked) => liked !== item)
      : [...likes.value, item];
  };
  return (
    <section aria-label={`${items.many} to choose from`}>
      <SearchField label={`Find ${items.many}`} text={text} />
      {likes.value.length > 0 && (
        <>
          <h2>Has</h2>
          <Chips>
            {likes.value.map((item) => (
              <li key={item}>
                <button
                  type="button"
                  aria-label={`Remove ${itemName(item)}`}
                  class="on"
                  onClick={() => toggle(item)}
                >
                  {itemName(item, 30)} ×
                </button>
              </li>
            ))}
          </Chips>
        </>
      )}
      <h2>{text.value.trim() === '' ? `Common ${items.many}` : 'Found'}</h2>
      {offered?.items.length === 0 && <p class="quiet">No {items.many} contain this text.</p>}
      <Chips>
        {(offered?.items ?? [])
          .filter(({ item }) => !likes.value.includes(item))
          .map(({ item, users: count }) => (
            <li key={item}>
              <button type="button" onClick={() => toggle(item)}>
                {itemName(item, 30)} {count !== undefined && <small>{grouped(count)}</small>}
              </button>
            </li>
          ))}
      </Chips>
    </section>
  );
}

/** Lists for all users as a file. */
function AllLists({ found: { names, users } }: { readonly found: ModelSummary }) {
  const count = opened.value?.users ?? users;
  const take = async (format: 'csv' | 'parquet') => {
    const { n } = settings.value;
    const title = `Lists for ${many(count, names.users)}.`;
    const file = await perform(title, 'export', {
      ...{ what: 'lists', by: lister.value, n, format },
      filter: filter.value || undefined,
    });
    if (file) save(file.name, file.blob);
  };
  return (
    <section class="all-lists" aria-label="Lists for all">
      <h2>
        Lists for all {grouped(count)} {names.users.many}
      </h2>
      <div class="fields">
        <NumberOption name="n" label={`${capital(names.items.many)} in a list`} about="" />
      </div>
      {filter.value && <p class="quiet">Only {names.items.many} that the filter keeps are listed.</p>}
      <p class="buttons">
        {(['csv', 'parquet'] as const).map((format) => (
          <button
            type="button"
            key={format}
            disabled={work.value !== undefined}
            onClick={() => void take(format)}
          >
            Save all lists as {format === 'csv' ? 'CSV' : 'Parquet'}
          </button>
        ))}
      </p>
    </section>
  );
}
