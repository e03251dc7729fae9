import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { PURPOSE_TITLES } from '../../report/words/page.js';
import { grouped } from '../../text/numbers.js';
import { article, capital, many } from '../../text/phrases.js';
import { shown } from '../../text/untrusted.js';
import { AllLists } from '../components/all-lists.js';
import { Button, Select, set } from '../components/controls.js';
import { FilterField } from '../components/filter-field.js';
import { useNextFocus } from '../components/focus.js';
import { bringIntoView, useArrival } from '../components/hooks.js';
import { itemName, MOST_OF_NAME } from '../components/item-name.js';
import { ItemTableField } from '../components/item-table-field.js';
import { RecommendedList } from '../components/recommended-list.js';
import { SearchField, useFound, useFoundUsers } from '../components/search.js';
import type { Answer, ListQuery, ModelSummary } from '../protocol.js';
import { ask } from '../session-client.js';
import {
  comparison,
  complain,
  customer,
  filter,
  hidden,
  isNew,
  itemTable,
  likes,
  lister,
  model,
  names,
  opened,
  preferred,
  ready,
  settings,
  shownList,
} from '../state.js';
import { answerOf } from '../work.js';

const OFFERED = 24;
/** Items of a user that are shown first. */
const OWNED = 16;

/** A user or some items on the left, and the list with reasons and confidence on the right. */
export default function Recommend() {
  const found = model.value;
  const answer = useSignal<Answer | undefined>(undefined);
  const open = useSignal<string | undefined>(undefined);
  const refused = useSignal<string | undefined>(undefined);
  const by = lister.value;
  const { n } = settings.value;
  const condition = filter.value || undefined;
  const exclude = hidden.value;

  /** Users who can be chosen: a server does not name its users. */
  const known = found && !found.served ? (opened.value?.users ?? found.users) : 0;
  const knowsUsers = known > 0;
  const forNew = isNew.value || !knowsUsers;
  // Somebody new is put together by several clicks, which must not be interrupted.
  const place = useArrival<HTMLElement>(answer.value && !forNew ? customer.value : undefined);

  const hiddenBefore = useRef(exclude);
  useEffect(() => {
    // The list stays while items are hidden or shown again.
    if (hiddenBefore.current === exclude) answer.value = undefined;
    hiddenBefore.current = exclude;
    shownList.value = undefined;
    refused.value = undefined;
    const query = queryOf(forNew);
    if (!query) return undefined;
    const choice = { query, n, by, filter: condition, exclude };
    const show = (list: Answer) => {
      answer.value = list;
      shownList.value = { ...choice, answer: list };
    };
    const asked = ask('recommend', choice, { onPartial: show });
    asked.answer.then(show, (error) => {
      if (error.name === 'AbortError') return;
      if (condition) refused.value = error.message;
      else complain(error.message, 'recommend');
    });
    return asked.cancel;
  }, [likes.value, customer.value, forNew, found, by, n, condition, exclude, itemTable.value]);

  if (!found) return null;
  const { items, users } = names.value;
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
              <Button key={String(value)} aria-pressed={forNew === value} onClick={() => set(isNew, value)}>
                {value ? 'Somebody new' : capital(article(users.one))}
              </Button>
            ))}
          </fieldset>
        )}
        <Lister />
      </div>
      {/* Without titles the lists show codes, so the table is asked for before them. */}
      {!itemTable.value && <ItemTableField />}
      <FilterField problem={refused.value} />
      <div class="recommend">
        {forNew ? (
          <ChooseItems found={found} onShow={answer.value && (() => bringIntoView(place.current!))} />
        ) : (
          <ChooseUser has={answer.value?.has} />
        )}
        <section class="result" aria-label="Recommendations" aria-live="polite" ref={place}>
          {answer.value && (
            <h2>List for {forNew ? `a new ${users.one}` : `${users.one} ${shown(customer.value ?? '')}`}</h2>
          )}
          {answer.value ? (
            <RecommendedList
              answer={withoutHidden(answer.value)}
              user={forNew ? `new ${users.one}` : (customer.value ?? '')}
              isRate={by === 'understand'}
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
                : queryOf(forNew)
                  ? 'Listing …'
                  : forNew
                    ? 'Nothing is chosen yet.'
                    : `Nobody is chosen yet. The number after each id says how many ${items.many} this ${users.one} has.`}
            </p>
          )}
        </section>
      </div>
      {itemTable.value && <ItemTableField />}
      {knowsUsers && <AllLists count={known} refused={refused.value !== undefined} />}
    </>
  );
}

/** An item that was hidden disappears before the next list arrives. */
function withoutHidden(answer: Answer): Answer {
  return { ...answer, items: answer.items.filter(({ item }) => !hidden.value.includes(item)) };
}

/** The one to recommend for, if somebody is chosen. */
function queryOf(isNew: boolean): ListQuery | undefined {
  if (isNew) return likes.value.length > 0 ? { likes: likes.value } : undefined;
  return customer.value === undefined ? undefined : { user: customer.value };
}

/** Which model makes the lists, if there are two. */
function Lister() {
  if (ready.value.length < 2) return null;
  const { best, tie } = comparison.value ?? {};
  return (
    <Select
      label="Lists by"
      inline
      value={lister.value}
      choices={ready.value.map(({ purpose }) => [purpose, PURPOSE_TITLES[purpose]])}
      about={best && !tie && `On held-out users, ${PURPOSE_TITLES[best]} is better.`}
      onChange={(purpose) => set(preferred, purpose)}
    />
  );
}

function Chips({
  offered = false,
  long = false,
  children,
}: {
  /** Scrolls, so that what comes after stays near. */
  readonly long?: boolean;
  /** To be chosen from. */
  readonly offered?: boolean;
  readonly children: ComponentChildren;
}) {
  const next = useNextFocus<HTMLUListElement>();
  return (
    <ul
      {...next}
      class={`chips${offered ? ' offered' : ''}${long ? ' long' : ''}`}
      // A region that scrolls can be reached by the keyboard.
      {...(long && { tabIndex: 0 })}
    >
      {children}
    </ul>
  );
}

/** Chooses the user who is meant by a text. What is offered may still be what was found for fewer letters. */
async function takeFound(text: Signal<string>): Promise<void> {
  const asked = text.value;
  const found = await answerOf(ask('findUsers', { text: asked, n: 1 }), 'recommend');
  const first = found?.users[0];
  // A whole id is found first, also if others contain it.
  if (first && text.value === asked && (found.total === 1 || first.user === asked.trim()))
    customer.value = first.user;
}

/** Finds a user by id, and shows what the user has. */
function ChooseUser({ has }: { readonly has: Answer['has'] | undefined }) {
  const { users, items } = names.value;
  const text = useSignal('');
  const offered = useFoundUsers(text.value, OFFERED);
  const chosen = customer.value;
  return (
    <section aria-label={`${users.many} to choose from`}>
      <SearchField label={`Find ${article(users.one)}`} text={text} onEnter={() => void takeFound(text)} />
      {chosen !== undefined && (
        <>
          <h2>
            {capital(users.one)} {shown(chosen)}
            {has && ` has ${many(has.length, items)}`}
          </h2>
          {has && <Owned has={has} key={chosen} />}
        </>
      )}
      <h2>{text.value.trim() === '' ? capital(users.many) : 'Found'}</h2>
      {offered?.users.length === 0 && (
        <p class="quiet">
          No {users.many} have this text in their id.
          {chosen !== undefined && ` The list is still that of ${users.one} ${shown(chosen)}.`}
        </p>
      )}
      <Chips offered>
        {(offered?.users ?? []).map(({ user, items: count }) => (
          <li key={user}>
            <Button
              class={user === chosen ? 'on' : undefined}
              aria-pressed={user === chosen}
              onClick={() => set(customer, user)}
            >
              {shown(user, 30)} <small>{grouped(count)}</small>
            </Button>
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

/** The items of a user: the most common ones, and the others on request. */
function Owned({ has }: { readonly has: Answer['has'] }) {
  const all = useSignal(false);
  const more = has.length - OWNED;
  return (
    <Chips long={all.value}>
      {has.slice(0, all.value ? undefined : OWNED).map((item) => (
        <li key={item} class="chip">
          {itemName(item, MOST_OF_NAME)}
        </li>
      ))}
      {more > 0 && (
        <li>
          <Button class="more" aria-expanded={all.value} onClick={() => set(all, !all.value)}>
            {all.value ? 'Show fewer' : `and ${grouped(more)} more`}
          </Button>
        </li>
      )}
    </Chips>
  );
}

/** The items that somebody new has. */
function ChooseItems({
  found,
  onShow,
}: {
  readonly found: ModelSummary;
  /** Goes to the list, if there is one. */
  readonly onShow: (() => void) | undefined;
}) {
  const { items, users } = names.value;
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
                <Button aria-label={`Remove ${itemName(item)}`} class="on" onClick={() => toggle(item)}>
                  {itemName(item, MOST_OF_NAME)} ×
                </Button>
              </li>
            ))}
          </Chips>
        </>
      )}
      {onShow && (
        <p class="buttons narrow-only">
          <Button class="primary" onClick={onShow}>
            Show the list
          </Button>
        </p>
      )}
      <h2>{text.value.trim() === '' ? `Common ${items.many}` : 'Found'}</h2>
      {offered?.items.length === 0 && <p class="quiet">No {items.many} contain this text.</p>}
      {offered?.items.some((one) => one.users !== undefined) && (
        <p class="quiet">
          The number after each name says how many{' '}
          {found.split ? `of the ${many(found.users, users)} in the training part` : users.many} have it.
        </p>
      )}
      <Chips offered>
        {(offered?.items ?? [])
          .filter(({ item }) => !likes.value.includes(item))
          .map(({ item, users: count }) => (
            <li key={item}>
              <Button onClick={() => toggle(item)}>
                {itemName(item, MOST_OF_NAME)} {count !== undefined && <small>{grouped(count)}</small>}
              </Button>
            </li>
          ))}
      </Chips>
    </section>
  );
}
