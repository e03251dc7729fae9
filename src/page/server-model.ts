// The model of the server that sent the page. It is not fetched: it may be large, and it knows its users. The server answers
// the same requests about it that the session answers about a model in the tab.

import type { FilterColumn } from '../attributes/item-filter.js';
import { MODEL_KINDS } from '../options/names.js';
import type { Reasons } from '../predict/explain/reasons.js';
import type { ScoreContribution } from '../predict/recommend.js';
import { sideNames } from '../text/sides.js';
import { learnTitles, type Titled } from './components/item-name.js';
import type { Api, FoundItem, ModelSummary, NearItem } from './protocol.js';
import type { ServerAnswers } from './session-client.js';

/** Answers of the server; /openapi.json describes them. */
interface Recommended {
  readonly items: readonly (Titled & {
    readonly score: number;
    readonly low?: number;
    readonly high?: number;
    readonly explanation?: Omit<Reasons, 'items' | 'features'> & {
      readonly items: readonly (Titled & ScoreContribution)[];
      readonly features: readonly (Omit<Reasons['features'][number], 'about'> & {
        readonly about: readonly Titled[];
      })[];
    };
  })[];
  readonly basis: string;
  readonly confidence?: { readonly text: string };
}
interface Models {
  readonly current: {
    readonly kind: string;
    readonly features: number;
    readonly users: number;
    readonly items: number;
    readonly names: { readonly users: string; readonly items: string };
    readonly attributes: readonly FilterColumn[];
  } | null;
}

const at = (path: string) => new URL(path, document.baseURI);

/** The key, if the server asks for one. It is kept in the memory of this tab only. */
let key: string | undefined;
const withKey = (): HeadersInit => (key === undefined ? {} : { Authorization: `Bearer ${key}` });

/** Uses a key for all further requests, if the server knows it. */
export async function tryKey(given: string): Promise<ModelSummary | 'locked' | undefined> {
  key = given;
  const found = await servedModel();
  if (found === 'locked') key = undefined;
  return found;
}

/** The model of the server, or undefined if it has none. */
export async function servedModel(): Promise<ModelSummary | 'locked' | undefined> {
  const answer = await fetch(at('v1/models'), { headers: withKey() }).catch(() => undefined);
  if (answer?.status === 401) return 'locked';
  if (!answer?.ok) return undefined;
  const { current } = (await answer.json()) as Models;
  if (!current) return undefined;
  const { kind, features, users, items, names, attributes } = current;
  return {
    purpose: MODEL_KINDS.some((known) => known === kind) ? 'understand' : 'recommend',
    names: sideNames(names),
    users,
    items,
    features: features || undefined,
    bounds: [],
    iterations: 0,
    converged: true,
    words: [],
    served: true,
    attributes: attributes.filter((one) => one.kind !== 'text'),
  };
}

/** The error of a refusal has the status as its cause. */
async function asked<T>(path: string, signal: AbortSignal, body?: unknown): Promise<T> {
  const answer = await fetch(at(path), {
    signal,
    headers: { ...withKey(), ...(body !== undefined && { 'Content-Type': 'application/json' }) },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  }).catch((error) => {
    if (error.name === 'AbortError') throw error;
    throw new Error('The server does not answer. Check that it still runs, and try again.');
  });
  if (answer.ok) return answer.json();
  const { status } = answer;
  const { detail = 'no reason given' } = await answer.json().catch(() => ({}));
  throw new Error(`The server answered with status ${status}: ${detail}`, { cause: status });
}

/** A list of items; their titles are remembered. */
async function listed<T extends Titled>(path: string, signal: AbortSignal): Promise<readonly T[]> {
  const { items } = await asked<{ readonly items: readonly T[] }>(path, signal);
  return learnTitles(items);
}

export const serverAnswers: ServerAnswers = {
  async features({ n }, signal) {
    type Found = { features: Api['features'][1] };
    const { features } = await asked<Found>(`v1/features?n=${n}`, signal);
    for (const { items } of features) learnTitles(items);
    return features;
  },
  async similar({ item, n }, signal) {
    return listed<NearItem>(`v1/items/${encodeURIComponent(item)}/similar?n=${n}`, signal);
  },
  async find({ text, n }, signal) {
    const wanted = text.trim();
    const path = wanted === '' ? `v1/popular?n=${n}` : `v1/items?n=${n}&search=${encodeURIComponent(wanted)}`;
    return { items: await listed<FoundItem>(path, signal) };
  },
  async recommend({ query, n, filter, exclude }, signal) {
    const began = performance.now();
    const list = (more: object) =>
      asked<Recommended>('v1/recommend', signal, { ...query, n, filter, exclude, ...more });
    const { items, basis, confidence } = await list({ explain: true, confidence: true }).catch((error) => {
      // Some models have no confidence; their lists are still valid.
      if (error.cause === 422) return list({});
      throw error;
    });
    learnTitles(items);
    return {
      has: 'likes' in query ? query.likes : [],
      items: items.map(({ explanation, ...entry }) => ({
        ...entry,
        reasons: explanation && {
          ...explanation,
          items: [...learnTitles(explanation.items)],
          features: explanation.features.map((one) => ({
            ...one,
            about: learnTitles(one.about).map(({ item }) => item),
          })),
        },
      })),
      basis,
      confidence: confidence?.text,
      milliseconds: performance.now() - began,
    };
  },
};
