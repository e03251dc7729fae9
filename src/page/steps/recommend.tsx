import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { fixed, grouped, percent } from '../../text/numbers.js';
import { shown } from '../../text/untrusted.js';
import { ask } from '../engine.js';
import type { Answer, FoundItem, Listed } from '../protocol.js';
import { likes, model, problem, settings } from '../state.js';

const OFFERED = 24;

/** Click likes; list, explanation and confidence follow at once. */
export default function Recommend() {
  const found = model.value;
  const text = useSignal('');
  const offered = useSignal<readonly FoundItem[]>([]);
  const answer = useSignal<Answer | undefined>(undefined);
  const open = useSignal<string | undefined>(undefined);

  useEffect(() => {
    const asked = text.value;
    ask('find', { text: asked, n: OFFERED }).answer.then(
      (list) => {
        if (text.value === asked) offered.value = list;
      },
      (error) => {
        problem.value = error.message;
      },
    );
  }, [text.value, found]);

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
      if (error.name !== 'AbortError') problem.value = error.message;
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
        Click the {items.many} that a new {users.one} has. The list, its reasons and how sure it is follow at
        once.
      </p>
      <div class="recommend">
        <section aria-label={`${items.many} to choose from`}>
          <p class="search">
            <label for="find">Find {items.many}</label>
            <input
              id="find"
              type="search"
              value={text.value}
              onInput={(event) => {
                text.value = event.currentTarget.value;
              }}
            />
          </p>
          {likes.value.length > 0 && (
            <>
              <h2>Has</h2>
              <ul class="chips">
                {likes.value.map((item) => (
                  <li key={item}>
                    <button
                      type="button"
                      aria-label={`Take away ${shown(item)}`}
                      class="on"
                      onClick={() => toggle(item)}
                    >
                      {shown(item, 30)} ×
                    </button>
                  </li>
                ))}
              </ul>
            </>
          )}
          <h2>{text.value.trim() === '' ? `Common ${items.many}` : 'Found'}</h2>
          {offered.value.length === 0 && <p class="quiet">None holds these letters.</p>}
          <ul class="chips">
            {offered.value
              .filter(({ item }) => !likes.value.includes(item))
              .map(({ item, users: count }) => (
                <li key={item}>
                  <button type="button" onClick={() => toggle(item)}>
                    {shown(item, 30)} <small>{grouped(count)}</small>
                  </button>
                </li>
              ))}
          </ul>
        </section>
        <section aria-label="Recommendations" aria-live="polite">
          {answer.value ? (
            <List
              answer={answer.value}
              open={open.value}
              onOpen={(item) => {
                open.value = open.value === item ? undefined : item;
              }}
            />
          ) : (
            <p class="waiting quiet">
              Nothing is chosen yet. The numbers beside the {items.many} say how many {users.many} have them.
            </p>
          )}
        </section>
      </div>
    </>
  );
}

function List({
  answer,
  open,
  onOpen,
}: {
  readonly answer: Answer;
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
              <b>{shown(entry.item, 60)}</b>
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
            {open === entry.item && <Reasons entry={entry} />}
          </li>
        ))}
      </ol>
      <p class="quiet">Listed in {Math.max(1, Math.round(answer.milliseconds))} ms, in this tab.</p>
    </>
  );
}

/** The largest part of the score. */
function mainReason({ score, explanation }: Listed): string {
  if (!explanation) return '';
  const [first] = explanation.items;
  if (!first || explanation.prior > first.share)
    return `${percent(explanation.prior / score)} as for anybody`;
  return `${percent(first.share / score)} because of ${shown(first.item, 30)}`;
}

/** All parts of a score, which add up to it. */
function Reasons({ entry: { score, low, high, explanation } }: { readonly entry: Listed }) {
  return (
    <div class="reasons">
      <p class="quiet">
        Expected rate {score.toPrecision(3)}
        {low !== undefined && high !== undefined && ` (90 %: ${low.toPrecision(2)} … ${high.toPrecision(2)})`}
        , which is the sum of
      </p>
      <ul>
        {explanation?.items.map(({ item, share }) => (
          <li key={item}>
            <span class="number">{fixed((100 * share) / score, 1)} %</span> {shown(item, 60)}
          </li>
        ))}
        <li>
          <span class="number">{fixed((100 * (explanation?.prior ?? 0)) / score, 1)} %</span> what anybody
          would be offered
        </li>
      </ul>
    </div>
  );
}
