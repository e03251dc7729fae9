import { LEAST } from '../../predict/explain/reasons.js';
import { commonWords, mainReasons } from '../../report/words/reasons.js';
import { fixed, percent, short } from '../../text/numbers.js';
import { described, many } from '../../text/phrases.js';
import type { Answer, Listed } from '../protocol.js';
import { filter, hidden, names } from '../state.js';
import { Button, set } from './controls.js';
import { useNextFocus } from './focus.js';
import { itemName, MOST_OF_NAME, titleOf } from './item-name.js';
import { FORMAT_NAMES, saveExport } from './save.js';
import { Linked } from './term.js';

/** A list with its confidence, a reason for each item, and its files. */
export function RecommendedList({
  answer,
  user,
  isRate,
  where,
  open,
  onOpen,
}: {
  readonly answer: Answer;
  /** What files call the user. */
  readonly user: string;
  /** Whether scores are expected rates; those of a ranker are not. */
  readonly isRate: boolean;
  readonly where: string;
  readonly open: string | undefined;
  onOpen(item: string): void;
}) {
  const list = useNextFocus<HTMLOListElement>('.hide');
  // Scores of rankers may be below 0: such an item has no bar.
  const most = Math.max(0, ...answer.items.map(({ score, high }) => high ?? score)) || 1;
  const { common, each } = mainReasons(answer.items, names.value, (item) => itemName(item, MOST_OF_NAME));
  return (
    <>
      <p class="stability">
        {answer.items.length === 0 ? (
          `No ${names.value.items.many} ${filter.value ? 'fit this filter' : 'are left to list'}.`
        ) : (
          <Stability text={answer.confidence ?? ' '} />
        )}
      </p>
      {answer.items.length > 0 && (
        <Legend isRate={isRate} withIntervals={answer.items[0].high !== undefined} />
      )}
      {common && <p class="quiet">{common}.</p>}
      <ol
        class={answer.items.some(({ item }) => titleOf(item) !== undefined) ? 'list titled' : 'list'}
        {...list}
      >
        {answer.items.map((entry, at) => (
          <li key={entry.item}>
            <div class="entry">
              <Button class="plain" aria-expanded={open === entry.item} onClick={() => onOpen(entry.item)}>
                <span>
                  <b>{itemName(entry.item, 60)}</b>
                  {entry.isNew && <span class="tag">new</span>}
                </span>
                <span class="quiet">{each[at]}</span>
              </Button>
              <Button
                class="hide"
                aria-label={`Hide ${itemName(entry.item, 60)} from all lists`}
                onClick={() => set(hidden, [...hidden.value, entry.item])}
              >
                Hide
              </Button>
            </div>
            <svg class="bar" viewBox="0 0 200 10" preserveAspectRatio="none" aria-hidden="true">
              <rect class="score" width={Math.max(0, (200 * entry.score) / most)} height="10" rx="2" />
              {entry.low !== undefined && entry.high !== undefined && (
                <path
                  class="spread"
                  d={`M${(200 * entry.low) / most} 5H${(200 * Math.min(most, entry.high)) / most}`}
                />
              )}
            </svg>
            {open === entry.item && <WhyListed entry={entry} isRate={isRate} />}
          </li>
        ))}
      </ol>
      <p class="quiet">
        Listed in {durationWords(answer.milliseconds)}, {where}.
      </p>
      <SaveList answer={answer} user={user} />
      <Hidden />
    </>
  );
}

/** How stable the list is: what decides it, then how much of it would stay. */
function Stability({ text }: { readonly text: string }) {
  const [, verdict, details = ''] = /^(.*?\.)( .*)?$/.exec(text) ?? ['', text];
  return (
    <>
      <b>{verdict}</b>
      <Linked text={details} terms={['stable']} />
    </>
  );
}

function Legend({ isRate, withIntervals }: { readonly isRate: boolean; readonly withIntervals: boolean }) {
  return (
    <p class="legend quiet">
      <span>
        <svg class="bar" viewBox="0 0 30 10" aria-hidden="true">
          <rect class="score" width="30" height="10" rx="2" />
        </svg>
        {isRate ? 'expected rate' : 'score'}
      </span>
      {withIntervals && (
        <span>
          <svg class="bar" viewBox="0 0 30 10" aria-hidden="true">
            <path class="spread" d="M0 5H30" />
          </svg>
          <Linked text={`its 90 % interval`} terms={['90 % interval']} />
        </span>
      )}
    </p>
  );
}

/** Items that no list shows, each with a way back. */
function Hidden() {
  const list = useNextFocus<HTMLUListElement>();
  if (hidden.value.length === 0) return null;
  const { items } = names.value;
  return (
    <section class="hidden-items" aria-label={`Hidden ${items.many}`}>
      <p class="quiet">
        Hidden from all lists and their files. The models still know{' '}
        {hidden.value.length === 1 ? 'it' : 'them'}. Click to show again:
      </p>
      <ul class="chips" {...list}>
        {hidden.value.map((item) => (
          <li key={item}>
            <Button
              aria-label={`Show ${itemName(item, 60)} again`}
              onClick={() => {
                hidden.value = hidden.value.filter((one) => one !== item);
              }}
            >
              {itemName(item, MOST_OF_NAME)} ×
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function durationWords(milliseconds: number): string {
  return milliseconds < 1000
    ? `${Math.max(1, Math.round(milliseconds))} ms`
    : `${fixed(milliseconds / 1000, 1)} s`;
}

/** Saves the list in the formats of `graphex recommend`. */
function SaveList({ answer, user }: { readonly answer: Answer; readonly user: string }) {
  const take = (format: keyof typeof FORMAT_NAMES) => {
    const items = answer.items.map(({ item, score }) => {
      const title = titleOf(item);
      return { item, score, ...(title !== undefined && { title }) };
    });
    const list = { user, items, basis: answer.basis };
    return saveExport('Writing.', { what: 'list', list, format });
  };
  return (
    <p class="buttons">
      <span class="quiet">Save this list</span>
      {(['csv', 'parquet', 'jsonl'] as const).map((format) => (
        <Button
          key={format}
          aria-label={`Save this list as ${FORMAT_NAMES[format]}`}
          disabled={answer.items.length === 0}
          onClick={() => void take(format)}
        >
          {FORMAT_NAMES[format]}
        </Button>
      ))}
    </p>
  );
}

/** All contributions to a score. They add up to it. */
function WhyListed({ entry, isRate }: { readonly entry: Listed; readonly isRate: boolean }) {
  const { score, low, high, reasons } = entry;
  const noun = { user: names.value.users.one, items: names.value.items };
  if (!reasons) return <p class="quiet reasons">This model has no explanations.</p>;
  const { items, others, rest, features, direct, attributes = [] } = reasons;
  const part = (fraction: number) => <span class="number">{percent(fraction, 1)}</span>;
  const other = described('other', noun.items);
  const named = items.filter(({ fraction }) => Math.abs(fraction) >= LEAST);
  const left = items.filter((one) => !named.includes(one));
  const leftFraction = left.reduce((sum, { fraction }) => sum + fraction, others.fraction);
  const leftCount = others.count + left.length;
  return (
    <div class="reasons">
      <p class="quiet">
        {isRate ? 'Expected rate' : 'Score'} {short(score)}
        {low !== undefined && high !== undefined && ` (90 % interval ${short(low)} to ${short(high)})`}. It is
        the sum of these parts; “usually” is the part in an average score of this {noun.user}.
      </p>
      <ul>
        {named.map(({ item, fraction, usual }) => (
          <li key={item}>
            {part(fraction)} {itemName(item, 60)}{' '}
            <span class="quiet">usually {percent(usual / score, 1)}</span>
          </li>
        ))}
        {leftCount > 0 && (
          <li>
            {part(leftFraction)} {many(leftCount, other)}
          </li>
        )}
        {Math.abs(rest / score) >= 0.0005 && <li>{part(rest / score)} overall popularity</li>}
      </ul>
      {attributes.length > 0 && (
        <p class="quiet">
          In common with this {noun.user}’s {noun.items.many}: {commonWords(attributes)}
        </p>
      )}
      {features.length > 0 && (
        <p class="quiet">
          Main feature: {features[0].feature} (
          {features[0].about.map((item) => itemName(item, MOST_OF_NAME)).join(', ')}
          ).
          {direct.fraction !== 0 &&
            ` ${percent(direct.fraction)} of the score comes from single ${noun.items.many}, without features.`}
        </p>
      )}
    </div>
  );
}
