import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { attributeWeight, FEW_EDGES } from '../../src/attributes/content-scores.js';
import { catalogueOf, type SideInfo } from '../../src/attributes/info.js';
import { filterColumns, itemFilter } from '../../src/attributes/item-filter.js';
import { carriedRows } from '../../src/attributes/new-rows.js';
import { readSideInfo } from '../../src/attributes/side-info.js';
import { fitBaseline } from '../../src/evaluate/baselines/fit-baseline.js';
import { fit } from '../../src/fit/fit.js';
import type { Model } from '../../src/fit/model.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { sideTable } from '../../src/ingest/side-table.js';
import { fitContent, withNewItems } from '../../src/predict/content/fit-content.js';
import { createRecommender, type Recommender } from '../../src/predict/recommender.js';
import { reasonWords } from '../../src/report/words/reasons.js';
import { createLiveView } from '../../src/serve/live/live-view.js';
import { answerQueries } from '../../src/serve/queries.js';
import { modelFromBytes, modelToBytes } from '../../src/store/model-bytes.js';
import { saveModel } from '../../src/store/model-file.js';
import { USERS_AND_ITEMS } from '../../src/text/sides.js';
import { graphex } from '../cli/run.js';
import { scratchFolder } from '../ingest/scratch.js';

const scratch = scratchFolder();

// Two tastes: users of each have items of one genre, each of which has 24 edges. The table has two more items of each genre.
const pairs: [string, string][] = [];
for (let u = 0; u < 120; u++) {
  for (let i = 0; i < 6; i++) pairs.push([`u${u}`, `${u % 2 === 0 ? 'a' : 'b'}${(u * 7 + i * 3) % 15}`]);
}
const graph = BipartiteGraph.fromPairs(pairs);
const rows = ['id,genre,author'];
for (const genre of ['a', 'b']) {
  for (let i = 0; i < 15; i++)
    rows.push(`${genre}${i},${genre === 'a' ? 'Action' : 'Romance'},${genre}${i % 4}`);
  for (let i = 0; i < 2; i++)
    rows.push(`new-${genre}${i},${genre === 'a' ? 'Action' : 'Romance'},${genre}${i}`);
}
const table = sideTable(new TextEncoder().encode(rows.join('\n')), 'items');

async function described(model: Model): Promise<Model> {
  const { info } = readSideInfo(graph.items, { name: 'items', rows: table });
  return { ...model, info: { items: await fitContent(model, info, { seed: 1, threads: 1 }) } };
}

describe.each([
  ['a posterior', async () => (await fit(graph, { features: 2, iterations: 50, threads: 1 })).model],
  ['a ranker', async () => (await fit(graph, { method: 'ranking', features: 2, threads: 1 })).model],
  [
    'item weights',
    async () => (await fitBaseline(graph, 'ease', { setting: { lambda: 10 }, threads: 1 })).model,
  ],
])('new items with %s', (_name, make) => {
  let plain: Recommender;
  let recommender: Recommender;
  beforeAll(async () => {
    const model = await make();
    plain = createRecommender(model);
    recommender = createRecommender(await modelFromBytes(modelToBytes(await described(model))));
  }, 60_000);
  afterAll(async () => {
    await Promise.all([plain.close(), recommender.close()]);
  });
  it('that are described later are listed too, by the columns of the table', async () => {
    const item = (id: string, attributes: Record<string, unknown>, title?: string) => ({
      item: id,
      attributes,
      title,
    });
    const later = await withNewItems(recommender.model, [
      item('late-a', { genre: ['Action', 'Unheard'], author: 'a1', other: {} }),
      item('late-b', { genre: 'Romance;Unheard' }),
      item('a3', { genre: 'Romance' }),
    ]);
    const asked = createRecommender(later);
    const list = (await asked.recommend({ user: 'u0' }, { n: 36 })).map((one) => one.item);
    const other = (await asked.recommend({ user: 'u1' }, { n: 36 })).map((one) => one.item);
    expect(list.indexOf('late-a')).toBeLessThan(list.indexOf('late-b'));
    expect(other.indexOf('late-b')).toBeLessThan(other.indexOf('late-a'));
    expect(list).toHaveLength((await recommender.recommend({ user: 'u0' }, { n: 36 })).length + 2);
    expect(asked.similar('late-a', { n: 1 })[0].item).toMatch(/^(new-)?a/);
    expect(itemFilter(later, "genre = 'Action'").has('late-a')).toBe(true);
    await asked.close();
    expect(await withNewItems(recommender.model, [item('a3', { genre: 'Romance' })])).toBe(recommender.model);
    expect(await withNewItems(plain.model, [item('late-a', { genre: 'Action' })])).toBe(plain.model);
    // A refit uses the table of the previous model in this way.
    const { ids } = graph.items;
    const fewer = BipartiteGraph.fromPairs(pairs.filter(([, one]) => one !== 'a3')).items.ids;
    const carried = carriedRows(later.info?.items as SideInfo, ids, fewer);
    expect(carried.added.find('a3')).toBeGreaterThanOrEqual(0);
    const namesOf = (rows: SideInfo, row: number) =>
      [...rows.rows.targets.subarray(rows.rows.offsets[row], rows.rows.offsets[row + 1])].map(
        (a) => rows.names[a],
      );
    expect(namesOf(carried, fewer.find('b7'))).toEqual(['Romance', 'b3']);
    expect(namesOf(carried, fewer.length + carried.added.find('a3'))).toEqual(['Action', 'a3']);
    expect(namesOf(carried, fewer.length + carried.added.find('late-a'))).toEqual(['Action', 'a1']);
  });

  it('that are added later leave the scores of all others unchanged', async () => {
    const told = [
      { item: 'late-a', attributes: { genre: 'Action' } },
      { item: 'late-b', attributes: { genre: 'Romance' } },
    ];
    const { model } = recommender;
    const scoresOf = async (asked: Recommender) =>
      new Map((await asked.recommend({ user: 'u0' }, { n: 40 })).map(({ item, score }) => [item, score]));
    const before = await scoresOf(recommender);
    // Items are added one after the other, as in a server, then one is removed. Both are repeated with a model that was read
    // from its file.
    const one = createRecommender(await withNewItems(model, told.slice(0, 1)));
    const first = await scoresOf(one);
    const both = createRecommender(await withNewItems(model, told));
    const scores = await scoresOf(both);
    const again = createRecommender(await withNewItems(await modelFromBytes(modelToBytes(model)), told));
    expect(await scoresOf(again)).toEqual(scores);
    const less = createRecommender(await withNewItems(model, told.slice(0, 1)));
    expect(await scoresOf(less)).toEqual(first);
    for (const [item, score] of before) {
      expect(first.get(item)).toBe(score);
      expect(scores.get(item)).toBe(score);
    }
    expect([first.size, scores.size]).toEqual([before.size + 1, before.size + 2]);
    await Promise.all([one, both, again, less].map((asked) => asked.close()));
  });

  const isNew = (item: string) => item.startsWith('new-');

  it('are listed for users who have similar ones', async () => {
    const list = await recommender.recommend({ user: 'u0' }, { n: 34 });
    const added = list.filter(({ item }) => isNew(item)).map(({ item }) => item);
    expect(added.slice(0, 2).sort()).toEqual(['new-a0', 'new-a1']);
    expect(added).toHaveLength(4);
  });

  it('leave the scores of items with many edges as they were', async () => {
    const query = { likes: ['a1', 'a3'] };
    const without = await plain.recommend(query, { n: 40 });
    const list = (await recommender.recommend(query, { n: 40 })).filter(({ item }) => !isNew(item));
    expect(list.map(({ item }) => item)).toEqual(without.map(({ item }) => item));
    for (const [i, { score }] of list.entries()) expect(score).toBeCloseTo(without[i].score, 5);
  });

  it('are explained: contributions add up to the score, and attributes are named', () => {
    const { score, explanation } = recommender.explain({ user: 'u0' }, 'new-a0');
    const items = explanation!.items.reduce(
      (sum, { contribution }) => sum + contribution,
      explanation!.prior,
    );
    expect(items).toBeCloseTo(score, 4);
    expect(explanation!.attributes?.map(({ value }) => value)).toContain('Action');
    const reasons = recommender.reasons({ item: 'new-a0', score, explanation })!;
    const { lines } = reasonWords(reasons, score, USERS_AND_ITEMS, (id) => id);
    expect(lines.at(-1)).toMatch(/^same .*genre: Action/);
    // Every shared attribute belongs to the items that it names, and the reasons name these items too.
    const actions = explanation!.attributes!.find(({ value }) => value === 'Action')!.items!;
    expect(actions.length).toBeGreaterThan(0);
    for (const item of actions) {
      expect(item).toMatch(/^a/);
      expect(reasons.items.map((one) => one.item)).toContain(item);
    }
    for (const { items } of explanation!.attributes!) expect(items!.length).toBeGreaterThan(0);
    const attributes = reasons.attributes!.map((shared) => ({ ...shared, column: '3' }));
    const unnamed = reasonWords({ ...reasons, attributes }, score, USERS_AND_ITEMS, (id) => id);
    expect(unnamed.lines.at(-1)).toMatch(/^same column 3: /);
  });

  it('are listed if they meet a filter, like all others', async () => {
    const list = await recommender.recommend(
      { user: 'u0' },
      { n: 40, filter: "genre = 'Romance' and author != 'b1'" },
    );
    expect(list.length).toBeGreaterThan(5);
    expect(list.every(({ item }) => /b/.test(item) && item !== 'b1' && item !== 'b5')).toBe(true);
    await expect(recommender.recommend({ user: 'u0' }, { filter: 'colour = 1' })).rejects.toThrow(
      /filter, character 1: the model has no attribute colour; it has id, genre, author/,
    );
    await expect(plain.recommend({ user: 'u0' }, { filter: 'genre = 1' })).rejects.toThrow(
      /stores no attributes/,
    );
  });

  it('have columns that a message names as a condition does', () => {
    const items = recommender.model.info!.items!;
    const renamed = { genre: '3', author: 'my "name' } as Readonly<Record<string, string>>;
    const columns = items.columns.map((column) => ({ ...column, name: renamed[column.name] ?? column.name }));
    const model = { ...recommender.model, info: { items: { ...items, columns } } };
    expect(() => itemFilter(model, 'colour = 1')).toThrow('it has id, #3, "my ""name"');
    expect(itemFilter(model, `#3 = 'Romance'`).count).toBe(17);
    expect(itemFilter(model, `"my ""name" = 'a1'`).count).toBeGreaterThan(0);
  });

  it('refuse a value of a category that only has another case', () => {
    const { model } = recommender;
    for (const condition of [
      "genre = 'romance'",
      "genre = 'Action' or 'romance' != Genre",
      "genre in ('Action', 'ROMANCE')",
    ])
      expect(() => itemFilter(model, condition)).toThrow(
        /^filter, character \d+: no item has (romance|ROMANCE); did you mean Romance\? /,
      );
    // Values that no item has, and patterns, are no mistakes.
    for (const condition of ["genre = 'Western'", "genre like 'romance'"])
      expect(itemFilter(model, condition).count).toBe(0);
    expect(itemFilter(model, "genre != 'Romance'").count).toBeGreaterThan(0);
  });

  it('take the same filter in similar items, popular items, confidence and lists for many', async () => {
    const filter = "genre = 'Romance'";
    const isRomance = ({ item }: { readonly item: string }) => /b/.test(item);
    const { model } = recommender;
    const romance = itemFilter(model, filter);
    expect(romance.count).toBe(17);
    expect(['b3', 'new-b1', 'a1', 'nobody'].map((id) => romance.has(id))).toEqual([true, true, false, false]);
    expect(itemFilter(model, filter)).toBe(romance);
    const similar = recommender.similar('new-a0', { n: 40, filter: "author = 'a1'" });
    expect(similar.length).toBeGreaterThan(0);
    for (const { item } of similar) expect(item).toMatch(/^a(1|5|9|13)$|^new-a1$/);
    const others = recommender.similar('b3', { n: 40, filter: "author != 'b1'" });
    expect(others.some(({ item }) => /^b(1|5|9|13)$/.test(item))).toBe(false);
    const popular = recommender.popular({ n: 40, filter });
    expect(popular.map(({ item }) => item).sort()).toEqual(
      [...Array.from({ length: 15 }, (_, i) => `b${i}`), 'new-b0', 'new-b1'].sort(),
    );
    const users = Array.from({ length: 300 }, (_, u) => ({ user: `u${u % 60}` }));
    const lists = await recommender.recommendMany(users, { n: 40, filter, threads: 2 });
    const one = await recommender.recommend(users[7], { n: 40, filter });
    expect(lists[7]).toEqual(one);
    expect(lists.every((list) => list.length > 0 && list.every(isRomance))).toBe(true);
    if (model.type === 'ranker' && model.scores.kind !== 'factors') return;
    const [{ confidence }] = await recommender.explainMany([{ user: 'u1' }], {
      n: 5,
      filter,
      confidence: true,
    });
    // The user has five of the 17 items of the genre, and five are listed.
    expect(confidence).toMatchObject({ left: 7 });
    expect(confidence!.overlap).toBeGreaterThan(0.3);
  });

  it('may be liked, and have similar items', async () => {
    const [first] = await recommender.recommend({ likes: ['new-b0'] }, { n: 3 });
    expect(first.item).toMatch(/b\d/);
    const similar = recommender.similar('new-a0', { n: 5 });
    expect(similar[0].item).toMatch(/^(new-)?a/);
    expect(similar).toHaveLength(5);
  });
});

describe('items with few edges', () => {
  // Three users of each taste have an item that is in the table, and one that is not.
  const few = BipartiteGraph.fromPairs([
    ...pairs,
    ...Array.from({ length: 12 }, (_, u): [string, string] => [
      `u${u}`,
      `${u < 6 ? 'rare' : 'bare'}-${'ab'[u % 2]}`,
    ]),
  ]);
  const known = sideTable(
    new TextEncoder().encode([...rows, 'rare-a,Action,a9', 'rare-b,Romance,b9'].join('\n')),
    'items',
  );

  it('get less by attributes the more edges they have, and nothing from 20 edges on', () => {
    const weights = Array.from({ length: 40 }, (_, degree) => attributeWeight(degree));
    expect(weights[0]).toBe(1);
    for (const [degree, weight] of weights.slice(1).entries()) {
      expect(weight).toBeLessThanOrEqual(weights[degree]);
      expect(weight > 0).toBe(degree + 1 < FEW_EDGES);
    }
  });

  it('are scored by edges and attributes, others as without a table', async () => {
    const { model } = await fit(few, { method: 'ranking', features: 2, threads: 1 });
    const { info } = readSideInfo(few.items, { name: 'items', rows: known });
    const items = await fitContent(model, info, { seed: 1, threads: 1 });
    const { settings, weights } = items.content!;
    expect(settings.few).toBeGreaterThan(0);
    expect(settings.few).toBeLessThanOrEqual(settings.level!);
    const { ids, count } = few.items;
    const targets = new Set([...weights.targets.subarray(0, weights.offsets[count])].map((item) => item));
    const scored = Array.from({ length: count }, (_, item) => item).filter((item) => targets.has(item));
    expect(scored.map((item) => ids.at(item))).toEqual(['rare-a', 'rare-b']);
    const [without, withTable] = [
      createRecommender(model),
      createRecommender(await modelFromBytes(modelToBytes({ ...model, info: { items } }))),
    ];
    const user = { user: 'u20' };
    for (let item = 0; item < count; item++) {
      const [one, other] = [without, withTable].map((by) => by.explain(user, ids.at(item)));
      if (ids.at(item) === 'rare-a') expect(other.score).toBeGreaterThan(one.score);
      else if (ids.at(item) !== 'rare-b') expect(other.score).toBe(one.score);
    }
    const { score, explanation } = withTable.explain(user, 'rare-a');
    const sum = explanation!.items.reduce(
      (total, { contribution }) => total + contribution,
      explanation!.prior,
    );
    expect(sum).toBeCloseTo(score, 4);
    expect(explanation!.attributes?.map(({ value }) => value)).toEqual(['Action']);
    await Promise.all([without.close(), withTable.close()]);
  });

  it('are similar to items with the same attributes too, others to those of the same users alone', async () => {
    // The users of a rare item have items of one taste, and its attributes are those of the other.
    const crossed = sideTable(
      new TextEncoder().encode([...rows, 'rare-a,Romance,b1', 'rare-b,Action,a1'].join('\n')),
      'items',
    );
    const { model } = await fit(few, { method: 'ranking', features: 2, threads: 1 });
    const { info } = readSideInfo(few.items, { name: 'items', rows: crossed });
    const items = await fitContent(model, info, { seed: 1, threads: 1 });
    const [without, withTable] = [model, { ...model, info: { items } }].map((one) => createRecommender(one));
    const all = { n: few.items.count };
    const similarTo = (by: Recommender, item: string) =>
      new Map(by.similar(item, all).map((one) => [one.item, one.similarity]));
    expect(similarTo(withTable, 'a3')).toEqual(similarTo(without, 'a3'));
    const [before, after] = [without, withTable].map((by) => similarTo(by, 'rare-a'));
    expect(before.has('b1')).toBe(false);
    // Three users are 3/20 of the edges that make attributes count for nothing.
    const sameAuthor = after.get('b1')!;
    expect(sameAuthor).toBeGreaterThan(0);
    expect(sameAuthor).toBeLessThanOrEqual(0.1 * attributeWeight(3));
    expect(sameAuthor).toBeGreaterThan(after.get('b2') ?? 0);
    for (const [item, similarity] of before)
      if (item.startsWith('a')) expect(after.get(item)).toBe(similarity);
    expect([...after.keys()].every((item) => few.items.ids.find(item) >= 0)).toBe(true);
    await Promise.all([without.close(), withTable.close()]);
  });
});

it('the same table gives the same scores', async () => {
  const { model } = await fit(graph, { features: 2, iterations: 20, threads: 1 });
  const [one, other] = [await described(model), await described(model)];
  expect(one.info).toEqual(other.info);
});

describe('a filter', () => {
  const describedAs = (text: string): Model => {
    const table = sideTable(new TextEncoder().encode(text), 'items');
    const { info } = readSideInfo(graph.items, { name: 'items', rows: table });
    return { items: graph.items, info: { items: info } } as unknown as Model;
  };
  const model = describedAs(
    [
      'id,title,tag,year',
      'a0,The First (1990),x|y,1990',
      'a1,Second One (1995),y,1995',
      'a2,Third One,,',
    ].join('\n'),
  );
  const found = (condition: string) => {
    const { has } = itemFilter(model, condition);
    return ['a0', 'a1', 'a2'].filter((id) => has(id));
  };

  it('compares numbers, titles, ids, several values and missing ones', () => {
    expect(found('year >= 1990 and year < 1995')).toEqual(['a0']);
    expect(found("tag = 'y'")).toEqual(['a0', 'a1']);
    expect(found("tag in ('x', 'z')")).toEqual(['a0']);
    expect(found("title like '%One%'")).toEqual(['a1', 'a2']);
    expect(found("id != 'a1' and year is not null")).toEqual(['a0']);
    expect(found("tag is null and id like 'a_'").includes('a2')).toBe(true);
  });

  it('can name the columns of filterColumns', () => {
    expect(filterColumns(model)).toEqual([
      { name: 'id', kind: 'text' },
      { name: 'title', kind: 'text' },
      {
        name: 'tag',
        kind: 'category',
        values: [
          { value: 'y', items: 2 },
          { value: 'x', items: 1 },
        ],
      },
      { name: 'year', kind: 'number', range: { low: 1990, median: 1995, high: 1995 } },
    ]);
    expect(filterColumns({ ...model, info: undefined })).toEqual([]);
  });

  it('that takes seconds is refused', () => {
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 5000));
    try {
      const condition = "title like '%a' or title like '%b'";
      expect(() => itemFilter(model, condition)).toThrow(
        /takes more than 3 s on \d+ items; write a simpler one/,
      );
    } finally {
      clock.mockRestore();
    }
  });

  it('reads the values of a column once, in whatever cases it names the column', () => {
    const { names } = model.info!.items!;
    const read = vi.spyOn(names as string[], 'slice');
    try {
      expect(found("tag = 'y' or Tag = 'z' or TAG in ('u', 'v') or tAG != 'w'")).toEqual(['a0', 'a1']);
      expect(read).toHaveBeenCalledOnce();
    } finally {
      read.mockRestore();
    }
  });

  it('is cached for the next request, within a limit', () => {
    const first = itemFilter(model, 'year = 1');
    for (let year = 2; year < 300; year++) itemFilter(model, `year = ${year}`);
    expect(itemFilter(model, 'year = 299')).toBe(itemFilter(model, 'year = 299'));
    expect(itemFilter(model, 'year = 1')).not.toBe(first);
  });
});

it('graphex similar says whether no item meets the filter', async () => {
  const { model } = await fit(graph, { features: 2, iterations: 20, threads: 1 });
  const path = scratch.path('described.safetensors');
  await saveModel(path, await described(model));
  const similar = async (filter: string) =>
    (await graphex('similar', path, '--item', 'a1', '--filter', filter)).stdout.trim();
  expect(await similar("id = 'nobody'")).toBe('no item meets the filter');
  expect(await similar("id = 'a1'")).toBe('no item that meets the filter is similar to a1');
});

it('a server refuses a wrong filter and applies a right one', async () => {
  const { model } = await fit(graph, { features: 2, iterations: 20, threads: 1 });
  const recommender = createRecommender(await described(model));
  const { ids, degree } = catalogueOf(recommender.model);
  const served = { recommender, live: createLiveView({ ids, degree }, []) };
  const romance = { likes: ['a1'], n: 5, filter: "genre = 'Romance'" };
  try {
    const replies = await answerQueries(
      served,
      [
        { endpoint: 'recommend', request: romance },
        { endpoint: 'recommend', request: { likes: ['a1'], n: 5 } },
        { endpoint: 'recommend', request: { ...romance, filter: 'colour = 1' } },
        { endpoint: 'recommend', request: { filter: romance.filter } },
        { endpoint: 'batch', request: { requests: [romance, { ...romance, filter: "genre = 'Action'" }] } },
        { endpoint: 'similar', request: { id: 'a1', filter: "author = 'a2'" } },
        { endpoint: 'popular', request: { filter: "id = 'b2'" } },
      ],
      () => false,
    );
    const values = replies.map((reply) => ('value' in reply ? reply.value : reply)) as {
      items?: { item: string }[];
      answers?: { items: { item: string }[] }[];
    }[];
    const genre = (at: number) => new Set(values[at].items?.map(({ item }) => item.replace(/new-|\d/g, '')));
    expect([genre(0), genre(3)]).toEqual([new Set(['b']), new Set(['b'])]);
    expect(genre(1)).toContain('a');
    expect(values[2]).toMatchObject({
      problem: 'bad-request',
      field: 'filter',
      detail: expect.stringContaining('the model has no attribute colour; it has id, genre, author'),
    });
    const [one, other] = values[4].answers!;
    expect(one).toEqual(values[0]);
    expect(other.items.every(({ item }) => /a/.test(item))).toBe(true);
    expect(values[5].items!.every(({ item }) => /^a(2|6|10|14)$/.test(item))).toBe(true);
    expect(values[6].items).toEqual([{ item: 'b2', users: degree[ids.find('b2')] }]);
  } finally {
    await recommender.close();
  }
});
