import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { basisOf } from '../../predict/user-query.js';
import { fixed, grouped, percent, significant } from '../../text/numbers.js';
import { many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { itemName, titleOf } from '../components/item-name.js';
import { save } from '../components/save.js';
import { SearchField, useFound } from '../components/search.js';
import type { Answer, Listed } from '../protocol.js';
import { ask } from '../session-client.js';
import { complain, likes, model, settings } from '../state.js';
import { perform } from '../work.js';

const OFFERED = 24;

/** Likes on the left, and the list with reasons and confidence on the right. */
export default function Recommend() {
  const found = model.value;
  const text = useSignal('');
  const offered = useFound(text.value, OFFERED);
  const answer = useSignal<Answer | undefined>(undefined);
  const open = useSignal<string | undefined>(undefined);

  useEffect(() => {
    const liked = likes.value;
    if (liked.length === 0) {
      answer.value = undefined;
      return undefined;
    }
    const show = (list: Answer) => {
      if (likes.value === liked) answer.value = list;
    };
    const asked = ask('recommend', { likes: liked, n: settings.value.n }, { onPartial: show });
    asked.answer.then(show, (error) => {
      if (error.name !== 'AbortError') complain(error.message, 'recommend');
    });
    return asked.cancel;
  }, [likes.value, found]);

  if (!found) return null;
  const { items, users } = found.names;
  const toggle = (item: string) => {
    likes.value = likes.value.includes(item)
      ? likes.value.filter((liked) => liked !== item)
      : [...likes.value, item];
  };
  return (
    <>
      <h1>What would it recommend?</h1>
      <p class="lead">
        Click the {items.many} that a new {users.one} has. The list appears immediately, with its reasons and
        its confidence.
      </p>
      <div class="recommend">
        <section aria-label={`${items.many} to choose from`}>
          <SearchField label={`Find ${items.many}`} text={text} />
          {likes.value.length > 0 && (
            <>
              <h2>Has</h2>
              <ul class="chips">
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
              </ul>
            </>
          )}
          <h2>{text.value.trim() === '' ? `Common ${items.many}` : 'Found'}</h2>
          {offered?.items.length === 0 && <p class="quiet">No {items.many} contain this text.</p>}
          <ul class="chips">
            {(offered?.items ?? [])
              .filter(({ item }) => !likes.value.includes(item))
              .map(({ item, users: count }) => (
                <li key={item}>
                  <button type="button" onClick={() => toggle(item)}>
                    {itemName(item, 30)} {count !== undefined && <small>{grouped(count)}</small>}
                  </button>
                </li>
              ))}
          </ul>
        </section>
        <section aria-label="Recommendations" aria-live="polite">
          {answer.value ? (
            <List
              answer={answer.value}
              names={found.names}
              where={found.served ? 'by the server' : 'in this tab'}
              open={open.value}
              onOpen={(item) => {
                open.value = open.value === item ? undefined : item;
              }}
            />
          ) : (
            <p class="waiting quiet">
              Nothing is chosen yet. The number after each name says how many {users.many} have it.
            </p>
          )}
        </section>
      </div>
    </>
  );
}

function List({
  answer,
  names,
  where,
  open,
  onOpen,
}: {
  readonly answer: Answer;
  readonly names: SideNames;
  readonly where: string;
  readonly open: string | undefined;
  onOpen(item: string): void;
}) {
  const most = Math.max(...answer.items.map(({ score, high }) => high ?? score));
  return (
    <>
      <p class="sure">{answer.sure ?? ' '}</p>
      <ol class="list">
        {answer.items.map((entry) => (
          <li key={entry.item}>
            <button
              type="button"
              class="plain"
              aria-expanded={open === entry.item}
              onClick={() => onOpen(entry.item)}
            >
              <b>{itemName(entry.item, 60)}</b>
              <span class="quiet">{mainReason(entry)}</span>
            </button>
            <svg class="bar" viewBox="0 0 200 10" preserveAspectRatio="none" aria-hidden="true">
              <rect class="score" width={(200 * entry.score) / most} height="10" rx="2" />
              {entry.low !== undefined && entry.high !== undefined && (
                <path
                  class="spread"
                  d={`M${(200 * entry.low) / most} 5H${(200 * Math.min(most, entry.high)) / most}`}
                />
              )}
            </svg>
            {open === entry.item && <WhyListed entry={entry} names={names} />}
          </li>
        ))}
      </ol>
      <p class="quiet">
        Listed in {Math.max(1, Math.round(answer.milliseconds))} ms, {where}.
      </p>
      <SaveList answer={answer} names={names} />
    </>
  );
}

const FORMATS = [
  ['csv', 'CSV'],
  ['parquet', 'Parquet'],
  ['jsonl', 'JSON lines'],
] as const;

/** Saves the list in the formats of `graphex recommend`. */
function SaveList({ answer, names }: { readonly answer: Answer; readonly names: SideNames }) {
  const take = async (format: (typeof FORMATS)[number][0]) => {
    const list = {
      user: `new ${names.users.one}`,
      items: answer.items.map(({ item, score }) => {
        const title = titleOf(item);
        return { item, score, ...(title !== undefined && { title }) };
      }),
      basis: basisOf(likes.value.length),
    };
    const file = await perform('Writing.', 'export', { what: 'list', list, format });
    if (file) save(file.name, file.blob);
  };
  return (
    <p class="buttons">
      <span class="quiet">Save this list</span>
      {FORMATS.map(([format, name]) => (
        <button
          type="button"
          key={format}
          aria-label={`Save this list as ${name}`}
          onClick={() => void take(format)}
        >
          {name}
        </button>
      ))}
    </p>
  );
}

/** The largest contribution to the score. */
function mainReason({ score, reasons }: Listed): string {
  if (!reasons) return '';
  const [first] = reasons.items;
  if (!first || reasons.rest > first.contribution)
    return `${percent(reasons.rest / score)} from overall popularity`;
  return `${percent(first.fraction)} because of ${itemName(first.item, 30)}`;
}

/** All contributions to a score. They add up to it. */
function WhyListed({
  entry: { score, low, high, reasons },
  names,
}: {
  readonly entry: Listed;
  readonly names: SideNames;
}) {
  if (!reasons) return <p class="quiet reasons">This model has no explanations.</p>;
  const { items, others, rest, features, direct } = reasons;
  const part = (fraction: number) => <span class="number">{fixed(100 * fraction, 1)} %</span>;
  const other = { one: `other ${names.items.one}`, many: `other ${names.items.many}` };
  return (
    <div class="reasons">
      <p class="quiet">
        Expected rate {significant(score, 3)}
        {low !== undefined &&
          high !== undefined &&
          ` (90 %: ${significant(low, 2)} … ${significant(high, 2)})`}
        , the sum of
      </p>
      <ul>
        {items.map(({ item, fraction, usual }) => (
          <li key={item}>
            {part(fraction)} {itemName(item, 60)}{' '}
            <span class="quiet">usually {fixed((100 * usual) / score, 1)} %</span>
          </li>
        ))}
        {others.count > 0 && (
          <li>
            {part(others.fraction)} {many(others.count, other)}
          </li>
        )}
        <li>{part(rest / score)} overall popularity</li>
      </ul>
      {features.length > 0 && (
        <p class="quiet">
          By feature {features[0].feature}: {features[0].about.map((item) => itemName(item, 30)).join(', ')}
          {direct.fraction !== 0 && (
            <>
              ; {part(direct.fraction)} from the {names.items.many} directly
            </>
          )}
        </p>
      )}
    </div>
  );
}
