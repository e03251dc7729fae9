import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { drawFigure, sampleFigure } from '../../examples/figure-1.js';

const FIGURE = new URL('../../docs/figures/graphex-process.svg', import.meta.url);

it('the figure of docs/model.md is the one that the example draws (GRAPHEX_DRAW=1 draws it again)', async () => {
  const svg = await drawFigure();
  if (process.env.GRAPHEX_DRAW) await writeFile(FIGURE, svg);
  expect(await readFile(FIGURE, 'utf8')).toBe(svg);
});

it('shows every point, every edge and only vertices with an edge', async () => {
  const { users, items, graph } = await sampleFigure();
  const svg = await drawFigure();
  const circles = (name: string) => svg.split(`<circle class="${name}"`).length - 1;
  const isolated = [users, items].flatMap(({ vertices }) => [...vertices].filter((v) => v < 0)).length;
  expect(circles('isolated')).toBe(isolated);
  expect(circles('cell')).toBe(graph.edges);
  expect(circles('users')).toBe(2 * graph.users.count); // as a point and as a vertex
  expect(circles('items')).toBe(2 * graph.items.count);
  expect(svg.split('<line class="edge"').length - 1).toBe(graph.edges);
});
