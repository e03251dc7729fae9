// What the features are about: a card for each, with its items and users folded, and a search for ids.

import type { Atlas, AtlasEntry, AtlasFeature } from '../../study/atlas.js';
import { mainModel } from '../../study/options.js';
import type { StudyResults } from '../../study/results.js';
import type { Topic } from '../../study/topics.js';
import { grouped, percent, short } from '../../text/numbers.js';
import { capital, many, type Noun } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { shown } from '../../text/untrusted.js';
import { dataBlock } from './explore.js';
import { type Content, fold, type Html, html, numbers, table } from './html.js';
import { term } from './page.js';

interface Named {
  readonly id: string;
  readonly title: string | null;
}

/** Features that are shown; the others are folded. */
const SHOWN_CARDS = 6;
/** Items on a card whose feature has no outstanding ones by name. */
const ON_CARD = 10;
/** Longer ids and titles lose their middle. */
const LONGEST_ID = 120;

export function featuresSection(results: StudyResults): Content {
  const { topics, atlas, check } = results;
  const cards = atlas
    ? atlasCards(atlas, topics?.features ?? [], check.names)
    : topics?.features.filter((topic) => topic.items.length > 0).map((topic) => card(topic, topic));
  return [
    introduction(results, cards !== undefined),
    atlas && findForm(check.names),
    cards && html`<div class="topics">${cards.slice(0, SHOWN_CARDS)}</div>`,
    cards &&
      cards.length > SHOWN_CARDS &&
      fold(
        `The other ${cards.length - SHOWN_CARDS} features`,
        html`<div class="topics">${cards.slice(SHOWN_CARDS)}</div>`,
      ),
    atlas && index(atlas, check.names),
  ];
}

function introduction({ topics, atlas, receipt, check }: StudyResults, shows: boolean): Html {
  const { users, items } = check.names;
  const codes = html`The ids of the ${items.many} are numbers or codes. To see what each feature is about, give them titles with
<code>--titles FILE</code>, a table with an id and a title in each row.`;
  if (!shows) return html`<p>${codes}</p>`;
  const model = topics?.model ?? mainModel(receipt.settings);
  return html`<p>What the ${model} model found: for each ${term('features', 'feature')} the ${items.many} that ${
    topics ? term('topic', 'stand out in it') : 'have most of it'
  }; features with most edges come first.${
    topics?.features.some((topic) => topic.users.length > 0) &&
    ` Below them the ${users.many} that have most of it.`
  }${atlas && ` Each opens to its ${items.many} and ${users.many}.`} ${
    topics ? `The model does not know what any ${items.one} means.` : codes
  }${receipt.origin?.text && ' Words are reduced to their stems.'}</p>`;
}

function atlasCards(atlas: Atlas, topics: readonly Topic[], names: SideNames): Html[] {
  return atlas.features
    .filter(({ items }) => items.length > 0)
    .map((feature) => {
      const topic = topics.find((one) => one.feature === feature.feature);
      const lists = fold(`Its ${names.items.many} and ${names.users.many}`, [
        members(feature.items, names.items, atlas.counts.items),
        members(feature.users, names.users, atlas.counts.users),
      ]);
      return card(feature, topic, lists);
    });
}

/** The items that stand out, or those with most of the feature; below them users with names. */
function card(
  { feature, share, items }: Pick<AtlasFeature, 'feature' | 'share'> & { readonly items: readonly Named[] },
  topic: Topic | undefined,
  lists?: Html,
): Html {
  const first: readonly Named[] = topic && topic.items.length > 0 ? topic.items : items.slice(0, ON_CARD);
  const name = ({ id, title }: Named) => shown(title ?? id, LONGEST_ID);
  return html`<div class="topic" id="feature-${feature}"><h3>Feature ${feature} <span>${percent(share)} of the edges</span></h3>${
    first.some(({ title }) => title !== null)
      ? html`<ol>${first.map((entry) => html`<li>${name(entry)}</li>`)}</ol>`
      : html`<p>${first.map(name).join(', ')}</p>`
  }${
    topic &&
    topic.users.length > 0 &&
    html`<p class="who">${capital(topic.users.map((user) => shown(user.id, LONGEST_ID)).join('; '))}</p>`
  }${lists}</div>`;
}

function members(entries: readonly AtlasEntry[], noun: Noun, count: number): Content {
  if (entries.length === 0) return undefined;
  return table(
    [{ label: capital(noun.one) }, ...numbers('share of the feature', 'edges')],
    entries.map(({ id, title, share, edges }) => [
      title === null
        ? shown(id, LONGEST_ID)
        : html`${shown(title, LONGEST_ID)} <small>${shown(id, LONGEST_ID)}</small>`,
      `${short(100 * share, 2)} %`,
      grouped(edges),
    ]),
    entries.length < count
      ? `The first ${grouped(entries.length)} of ${many(count, noun)}, by their share of the feature’s edges.`
      : undefined,
  );
}

/** Shown by the script that answers it. */
function findForm({ users, items }: SideNames): Html {
  return html`<form id="find" hidden><label>Look up ${items.many} and ${users.many}
<input type="search" autocomplete="off" spellcheck="false" placeholder="part of an id or a title"></label><output aria-live="polite"></output></form>`;
}

function index({ vertices, counts }: Atlas, names: SideNames): Html {
  return dataBlock(
    'index',
    (['items', 'users'] as const).map((side) => ({
      one: names[side].one,
      many: names[side].many,
      count: counts[side],
      rows: vertices[side].map(({ id, title, edges, feature, share }) => [
        shown(id, LONGEST_ID),
        title === null ? '' : shown(title, LONGEST_ID),
        edges,
        feature,
        percent(share),
      ]),
    })),
  );
}
