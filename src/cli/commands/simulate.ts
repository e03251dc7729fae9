import { type BipartiteGraph, partSize, type SideName } from '../../graph/graph.js';
import { COMMANDS } from '../../options/commands.js';
import { option, optionError } from '../../options/error.js';
import type { ProcessName } from '../../options/names.js';
import { listOptions, valueAt } from '../../options/option-list.js';
import { NAMED_PROCESSES } from '../../process/examples.js';
import { type Intensity, sampleGraphex } from '../../process/graphex.js';
import { type SimulateOptions, simulate } from '../../process/poisson-model.js';
import type { TaskOptions } from '../../progress.js';
import { nextLine, textTable, wrap } from '../../report/terminal/text-table.js';
import { edgesFormat, writeEdges } from '../../store/write-table.js';
import { grouped, short } from '../../text/numbers.js';
import { declareCommand, pause } from '../command.js';
import { checkOutputs } from '../outputs.js';

/** What is printed and written to --json, for any process. */
interface Drawn {
  readonly graph: BipartiteGraph;
  readonly atoms: Readonly<Record<SideName, number>>;
  /** Weight at which a side was cut (for a general process, depth); null if it was not cut. */
  readonly cut: Readonly<Record<SideName, number | null>>;
  readonly more: Readonly<Record<string, unknown>>;
}

export const register = declareCommand(
  'simulate',
  {
    description: 'Draws a graph from the sparse Poisson matrix model, or from a general graphex process.',
    examples: [
      'graphex simulate -o simulated.parquet',
      'graphex simulate -o s.csv --size-users 120 --size-items 120 --sigma-items -0.3',
      'graphex simulate -o power-law.csv --process power-law --size-users 50',
    ],
    more: `\nProcesses:\n${Object.entries(NAMED_PROCESSES)
      .map(([name, { description }]) => wrap(`${name}: ${description}`, '  ', '    '))
      .join('\n')}`,
  },
  async ({ seed, task, signal, onProgress }, { own, options: asked }) => {
    const { output = '', process, force } = own;
    edgesFormat(output);
    await checkOutputs({ files: [output], inputs: [], force });
    const drawn =
      process === undefined
        ? await drawModel({ ...asked, ...task })
        : await drawProcess(process, asked, { ...task, seed });
    await pause(signal);
    onProgress({ stage: 'writing', done: 0 });
    await writeEdges(output, drawn.graph);
    const { graph, atoms, cut, more } = drawn;
    return {
      json: { ...partSize(graph), total: graph.total, atoms, cut, ...more, seed, output },
      text: `${describe(drawn)}\nwrote ${output}\n${nextLine('check', output)}`,
    };
  },
);

async function drawModel(options: SimulateOptions): Promise<Drawn> {
  const { graph, atoms, cut, missingMass, belowCut } = await simulate(options);
  return { graph, atoms, cut, more: { missingMass, dust: belowCut } };
}

async function drawProcess(
  name: ProcessName,
  options: SimulateOptions,
  task: TaskOptions & { readonly seed: number },
): Promise<Drawn> {
  const { process } = NAMED_PROCESSES[name];
  for (const { path } of listOptions(COMMANDS.simulate.options)) {
    const given = valueAt(options, path) !== undefined;
    if (given && path[0] !== 'seed' && path[1] !== 'size') {
      throw optionError`${option(path.join('.'))} has no effect with ${option('process')} ${name}; leave one of them out`;
    }
  }
  const sizes = {
    users: options.users?.size ?? process.sizes.users,
    items: options.items?.size ?? process.sizes.items,
  };
  const { graph, users, items } = await sampleGraphex({ ...process, sizes, ...task });
  const depth = (intensity: Intensity) => ('depth' in intensity ? intensity.depth : null);
  return {
    graph,
    atoms: { users: users.positions.length, items: items.positions.length },
    cut: { users: depth(process.users), items: depth(process.items) },
    more: { process: name, sizes },
  };
}

function describe({ graph, atoms, cut }: Drawn): string {
  const { users, items, edges, total } = graph;
  const cutText = (value: number | null) => (value === null || value === 0 ? 'none' : short(value, 4));
  const rows = [
    ['', 'users', 'items'],
    ['vertices', grouped(users.count), grouped(items.count)],
    ['drawn, with those without edges', grouped(atoms.users), grouped(atoms.items)],
    ['smallest weight drawn', cutText(cut.users), cutText(cut.items)],
  ];
  const density = edges === 0 ? 0 : edges / users.count / items.count;
  const counted = graph.multigraph ? `, ${grouped(total)} with their counts` : '';
  return `${textTable(rows)}\n${grouped(edges)} edges${counted}, density ${short(density, 4)}`;
}
