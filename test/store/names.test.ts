import { describe, expect, it } from 'vitest';
import {
  BipartiteGraph,
  checkSparsity,
  fit,
  loadModel,
  loadSplit,
  readGraph,
  saveModel,
  saveSplit,
  sideNames,
  split,
} from '../../src/index.js';
import {
  chartDocument,
  degreesChart,
  densityChart,
  drawChart,
  renderCheckPage,
} from '../../src/report-node.js';
import { scratchFolder } from '../ingest/scratch.js';

const scratch = scratchFolder();

const rows = Array.from({ length: 400 }, (_, e) => `c${e % 37},p${(e * 7) % 53}`).join('\n');

describe('names of the sides', () => {
  it('travel from the header to the graph, its parts, the split’s folder, the model and its file', async () => {
    const { graph, guess } = await readGraph(scratch.write('shop.csv', `customerId,StockCode\n${rows}\n`));
    expect(guess.kind).toBe('table');
    const names = sideNames({ users: 'customers', items: 'products' });
    expect(graph.names).toEqual(names);
    const parts = split(graph, { seed: 1 });
    await saveSplit(scratch.path('parts'), parts);
    const loaded = await loadSplit(scratch.path('parts'));
    expect([loaded.train.names, loaded.foldIn.names, loaded.test.names]).toEqual([names, names, names]);
    const options = { features: 2, iterations: 2, engine: 'reference' } as const;
    for (const more of [{}, { method: 'ranking' } as const]) {
      const { model } = await fit(loaded.train, { ...options, ...more });
      await saveModel(scratch.path('model.safetensors'), model);
      expect((await loadModel(scratch.path('model.safetensors'))).names).toEqual(names);
    }
  });

  it('are as asked, whatever the header says; exchanged with the sides', async () => {
    const asked = { users: 'guests', items: 'dishes' };
    const { graph } = await readGraph(scratch.write('other.csv', `customer,product\n${rows}\n`), {
      names: asked,
    });
    expect(graph.names).toEqual(sideNames(asked));
    expect(BipartiteGraph.transpose(graph).names?.users.one).toBe('dish');
    expect(BipartiteGraph.fingerprint(graph)).toBe(
      BipartiteGraph.fingerprint({ ...graph, names: undefined }),
    );
    const { graph: bare } = await readGraph(scratch.write('bare.csv', `${rows}\n`));
    expect(bare.names).toBeUndefined();
  });

  it('appear in a page made with the public API', async () => {
    const graph = BipartiteGraph.fromEdges({
      users: Array.from({ length: 400 }, (_, e) => e % 37),
      items: Array.from({ length: 400 }, (_, e) => (e * 7) % 53),
      userCount: 37,
      itemCount: 53,
      names: sideNames({ users: 'guests', items: 'dishes' }),
    });
    const check = await checkSparsity(graph, { replicates: 1 });
    const document = await chartDocument();
    const page = renderCheckPage({
      source: 'the kitchen',
      check,
      charts: {
        density: drawChart(document, densityChart(check)),
        degrees: drawChart(document, degreesChart(check.degrees, check.names)),
      },
      version: '0',
      seed: 1,
      fingerprint: BipartiteGraph.fingerprint(graph),
    });
    expect(page).toContain('dishes, tested by dropping guests');
    expect(page.replace(/<style>.*?<\/style>/gs, '').replace(/<[^>]*>/g, ' ')).not.toMatch(
      /\b(users?|items?)\b/i,
    );
  });

  it('of a forged file are dropped', async () => {
    const { graph } = await readGraph(scratch.write('shop.csv', `customer,product\n${rows}\n`));
    const { model } = await fit(graph, { features: 2, iterations: 2, engine: 'reference' });
    const forged = { users: { one: '\u001b[2J', many: 'x' }, items: { one: 'y', many: 'ys' } };
    await saveModel(scratch.path('forged.safetensors'), { ...model, names: forged });
    expect((await loadModel(scratch.path('forged.safetensors'))).names).toBeUndefined();
  });
});
