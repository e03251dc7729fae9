// Draws a realization of a graphex process: the points of both sides, the edges between them, and the graph that
// remains when points without an edge are dropped. The picture of docs/model.md.

import { type GraphexSample, type PointSet, sampleGraphex } from '../src/process/graphex.js';
import { INK } from '../src/report/charts/ink.js';

const SIZE = 3;
const DEPTH = 6;

/** Points of the whole half-line, 0 the most active; only those below DEPTH are drawn. */
const halfLine = { inverseTail: (mass: number) => mass, depth: DEPTH };

export async function sampleFigure(): Promise<GraphexSample> {
  return sampleGraphex({
    users: halfLine,
    items: halfLine,
    sizes: { users: SIZE, items: SIZE },
    probability: (x, y) => Math.exp(-0.8 * (x + y)),
    seed: 2446,
  });
}

const PANEL = { width: 250, height: 210, top: 64, lefts: [52, 372, 692] } as const;
const GRAPH = { top: 400, height: 120 } as const;
const WIDTH = 980;
const HEIGHT = 590;

/** The whole figure as SVG text. */
export async function drawFigure(): Promise<string> {
  const { users, items, graph } = await sampleFigure();
  const edges: { user: number; item: number }[] = [];
  for (let v = 0; v < graph.users.count; v++) {
    for (let e = graph.users.offsets[v]; e < graph.users.offsets[v + 1]; e++) {
      edges.push({ user: v, item: graph.users.neighbors[e] });
    }
  }
  const body = [
    processPanel(0, 'users', 'User points', 'user label', 'x', users),
    processPanel(1, 'items', 'Item points', 'item label', 'y', items),
    edgePanel(users, items, edges),
    graphPanel(users, items, edges),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title description">
<title id="title">A realization of a graphex process</title>
<desc id="description">Left: ${users.positions.length} user points. Middle: ${items.positions.length} item points. Right: the ${edges.length} edges between them. Below: the graph of the ${graph.users.count} users and ${graph.items.count} items that have an edge.</desc>
<style>${style()}</style>
<rect class="ground" width="${WIDTH}" height="${HEIGHT}"/>
${body.join('\n')}
</svg>
`;
}

function style(): string {
  const rules = (shade: 'light' | 'dark') =>
    [
      `.ground{fill:${INK.ground[shade]}}`,
      `text{fill:${INK.text[shade]}}`,
      `.soft{fill:${INK.muted[shade]}}`,
      `.frame,.rule,.edge{stroke:${INK.muted[shade]}}`,
      `.users{fill:${INK.users[shade]};stroke:${INK.users[shade]}}`,
      `.items{fill:${INK.items[shade]};stroke:${INK.items[shade]}}`,
      `.isolated{fill:none;stroke:${INK.muted[shade]}}`,
      `.cell{fill:${INK.text[shade]}}`,
      `.on{fill:${INK.ground[shade]}}`,
    ].join('');
  return (
    `text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}` +
    `.head{font-size:15px;font-weight:600}.middle{text-anchor:middle}.small{font-size:11px}` +
    `.frame{fill:none}.rule{stroke-opacity:.35;stroke-width:.8}.edge{stroke-opacity:.7;stroke-width:1.3}` +
    `${rules('light')}@media(prefers-color-scheme:dark){${rules('dark')}}`
  );
}

const round = (value: number) => Math.round(value * 10) / 10;
const along = (label: number) => round((label / SIZE) * PANEL.width);
const up = (position: number) => round(PANEL.height - (position / DEPTH) * PANEL.height);

/** One side's Poisson process: label to the right, position upward; hollow where no edge will be. */
function processPanel(
  place: number,
  side: 'users' | 'items',
  title: string,
  across: string,
  letter: string,
  { labels, positions, vertices }: PointSet,
): string {
  const names = byLabel(labels, vertices);
  const points = Array.from(labels, (label, i) => {
    const [x, y] = [along(label), up(positions[i])];
    if (vertices[i] < 0) return `<circle class="isolated" cx="${x}" cy="${y}" r="4"/>`;
    return `<circle class="${side}" cx="${x}" cy="${y}" r="7.5"/><text class="on middle small" x="${x}" y="${round(y + 4)}">${names[vertices[i]] + 1}</text>`;
  });
  return panel(
    place,
    title,
    `they go on above for ever, ever less active`,
    `<text class="soft middle" x="${PANEL.width / 2}" y="${PANEL.height + 22}">${across}, 0 to ${side === 'users' ? 's' : 'α'}</text>
<text class="soft middle" transform="translate(-14 ${PANEL.height / 2}) rotate(-90)">feature ${letter}, 0 the most active</text>
${points.join('\n')}`,
  );
}

/** Who met whom: a dot where the lines of a user and of an item cross in an edge. */
function edgePanel(
  users: PointSet,
  items: PointSet,
  edges: readonly { user: number; item: number }[],
): string {
  const userAt = vertexLabels(users);
  const itemAt = vertexLabels(items);
  const down = (label: number) => round(PANEL.height - along(label) * (PANEL.height / PANEL.width));
  const lines = [
    ...userAt.map(
      (label) => `<line class="rule" x1="${along(label)}" x2="${along(label)}" y1="0" y2="${PANEL.height}"/>`,
    ),
    ...itemAt.map(
      (label) => `<line class="rule" x1="0" x2="${PANEL.width}" y1="${down(label)}" y2="${down(label)}"/>`,
    ),
    ...edges.map(
      ({ user, item }) =>
        `<circle class="cell" cx="${along(userAt[user])}" cy="${down(itemAt[item])}" r="4.5"/>`,
    ),
  ];
  return panel(
    2,
    'Edges',
    'each pair on its own, with probability W(x, y)',
    `<text class="soft middle" x="${PANEL.width / 2}" y="${PANEL.height + 22}">user label</text>
<text class="soft middle" transform="translate(-14 ${PANEL.height / 2}) rotate(-90)">item label</text>
${lines.join('\n')}`,
  );
}

function panel(place: number, title: string, note: string, content: string): string {
  return `<g transform="translate(${PANEL.lefts[place]} ${PANEL.top})">
<text class="head" x="0" y="-28">${title}</text>
<text class="soft" x="0" y="-10">${note}</text>
<rect class="frame" width="${PANEL.width}" height="${PANEL.height}"/>
${content}
</g>`;
}

/** The graph that remains, users above items, in the order of their labels. */
function graphPanel(
  users: PointSet,
  items: PointSet,
  edges: readonly { user: number; item: number }[],
): string {
  const place = (points: PointSet) => {
    const order = byLabel(points.labels, points.vertices);
    return order.map((rank) => round(40 + ((rank + 0.5) / order.length) * (WIDTH - 80)));
  };
  const order = {
    users: byLabel(users.labels, users.vertices),
    items: byLabel(items.labels, items.vertices),
  };
  const [userX, itemX] = [place(users), place(items)];
  const dots = (side: 'users' | 'items', xs: readonly number[], y: number) =>
    xs.map(
      (x, v) =>
        `<circle class="${side}" cx="${x}" cy="${y}" r="11"/><text class="on middle small" x="${x}" y="${y + 4}">${order[side][v] + 1}</text>`,
    );
  return `<g transform="translate(0 ${GRAPH.top})">
<text class="head" x="${PANEL.lefts[0]}" y="-38">The graph</text>
<text class="soft" x="${PANEL.lefts[0]}" y="-20">what is observed: points without an edge (hollow above) are gone</text>
${edges.map(({ user, item }) => `<line class="edge" x1="${userX[user]}" y1="20" x2="${itemX[item]}" y2="${GRAPH.height}"/>`).join('\n')}
${dots('users', userX, 20).join('\n')}
${dots('items', itemX, GRAPH.height).join('\n')}
<text class="soft" x="${PANEL.lefts[0]}" y="${GRAPH.height + 40}">blue: users, orange: items; numbers run in the order of the labels</text>
</g>`;
}

/** Rank by label of each vertex. */
function byLabel(labels: Float64Array, vertices: Int32Array): number[] {
  const points = Array.from(vertices, (_, i) => i).filter((i) => vertices[i] >= 0);
  points.sort((a, b) => labels[a] - labels[b]);
  const ranks: number[] = [];
  points.forEach((i, rank) => {
    ranks[vertices[i]] = rank;
  });
  return ranks;
}

/** Label of each vertex. */
function vertexLabels({ labels, vertices }: PointSet): number[] {
  const result: number[] = [];
  vertices.forEach((v, i) => {
    if (v >= 0) result[v] = labels[i];
  });
  return result;
}
