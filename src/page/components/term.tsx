import type { ComponentChildren } from 'preact';
import { TERMS, type TermName } from './glossary-terms.js';

/** A link to a row of the glossary. It opens another tab, because this one holds the data. */
export function Term({ of, children }: { readonly of: TermName; readonly children: ComponentChildren }) {
  return (
    <a
      class="term"
      href={`./manual/index.html#${encodeURIComponent(`term-${TERMS[of]}`)}`}
      target="_blank"
      rel="noopener"
    >
      {children}
    </a>
  );
}

/** A sentence in which the first occurrence of each of these terms is a link to the glossary. */
export function Linked({ text, terms }: { readonly text: string; readonly terms: readonly TermName[] }) {
  const found = terms
    .map((term) => ({
      term,
      at: new RegExp(`(?<![\\p{L}-])${term}(?![\\p{L}-])`, 'iu').exec(text)?.index ?? -1,
    }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at);
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const { term, at } of found) {
    if (at < from) continue;
    parts.push(
      text.slice(from, at),
      <Term of={term} key={term}>
        {text.slice(at, at + term.length)}
      </Term>,
    );
    from = at + term.length;
  }
  return (
    <>
      {parts}
      {text.slice(from)}
    </>
  );
}
