// Turns documents into terms: Porter2 stems of lower-case words without stop words. Terms in more than a given share of the documents are
// left out at the end. It reads no files.

import { stem } from 'porter2';
// The other file of the package has no exports of its own: to find them takes five times as long.
import { eng } from 'stopword/dist/stopword.esm.mjs';
import { InputError } from '../../errors.js';
import { EdgeCollector } from '../intake/collect.js';
import { idProblem } from '../intake/id-column.js';
import type { OriginKind, ReadOptions, ReadResult, RejectSink } from '../options.js';

/** A word: letters, then letters or digits, with apostrophes inside. Numbers are not words. */
const WORD = /\p{L}[\p{L}\p{M}\p{N}]*(?:['’]\p{L}+)*/gu;
const SHORTEST = 2;
const DEFAULT_COMMON = 0.5;

/** The terms of a text in order, repeats included. */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  for (const [word] of text.matchAll(WORD)) {
    const term = termOf(word);
    if (term !== undefined) terms.push(term);
  }
  return terms;
}

/** The words of a text as they are shown: lower case, without stop words, not stemmed. */
export function plainWords(text: string): string[] {
  const words: string[] = [];
  for (const [found] of text.matchAll(WORD)) {
    const word = found.toLowerCase().replaceAll('’', "'");
    if (word.length >= SHORTEST && !stopWords.has(word)) words.push(word);
  }
  return words;
}

const stopWords = new Set<string>(eng);
const known = new Map<string, string | undefined>();
const KNOWN_LIMIT = 1 << 20;

/** The stem of a word, or undefined for a stop word. */
function termOf(word: string): string | undefined {
  if (known.has(word)) return known.get(word);
  const lower = word.toLowerCase().replaceAll('’', "'");
  const stemmed = stopWords.has(lower) ? undefined : stem(lower);
  const term = stemmed !== undefined && stemmed.length >= SHORTEST ? stemmed : undefined;
  if (known.size >= KNOWN_LIMIT) known.clear();
  known.set(word, term);
  return term;
}

/** Collects documents and makes the graph of documents × terms. */
export class DocumentCollector {
  readonly collector: EdgeCollector;
  readonly #common: number;
  #documents = 0;
  #wordless = 0;
  /** Number of documents with each term, by term code. */
  readonly #spread: number[] = [];
  readonly #codes = new Map<string, number>();

  constructor(name: string, options: ReadOptions, rejects?: RejectSink) {
    const common = options.commonWords ?? DEFAULT_COMMON;
    if (!(common > 0 && common <= 1)) {
      throw new InputError(`commonWords ${common}: expected a share above 0 and at most 1, for instance 0.5`);
    }
    this.#common = common;
    this.collector = new EdgeCollector(name, options, rejects);
    this.collector.items.keepCodes();
  }

  get documents(): number {
    return this.#documents;
  }

  /** Adds a document under an id that no other has. */
  add(id: string, text: string): void {
    this.#documents++;
    const counts = new Map<number, number>();
    for (const term of termsOf(text)) {
      let code = this.#codes.get(term);
      if (code === undefined) {
        code = this.collector.items.encodeText(term);
        if (code < 0) {
          this.#reject('a word', code, term);
          return;
        }
        this.#codes.set(term, code);
        this.#spread[code] = 0;
      }
      counts.set(code, (counts.get(code) ?? 0) + 1);
    }
    if (counts.size === 0) {
      this.#wordless++;
      return;
    }
    const user = this.collector.users.encodeText(id);
    if (user < 0) {
      this.#reject('its title', user, id);
      return;
    }
    for (const [code, count] of counts) {
      this.#spread[code]++;
      this.collector.push(user, code, count);
    }
  }

  #reject(what: string, code: number, text: string): void {
    const { collector } = this;
    const place = `${collector.name}, document ${this.#documents}`;
    collector.reject(this.#documents, `${what}: ${idProblem(code)}`, text.slice(0, 200), place);
  }

  finish(kind: OriginKind, format: string): ReadResult {
    const limit = this.#common * this.#documents;
    const common = this.#spread.map((documents) => documents > limit);
    const result = this.collector.finish((code) => !common[code]);
    return {
      ...result,
      guess: {
        kind,
        format,
        columns: { users: 'document', items: 'term' },
        text: {
          documents: this.#documents,
          commonWords: common.filter(Boolean).length,
          commonShare: this.#common,
          wordless: this.#wordless,
        },
      },
    };
  }
}
