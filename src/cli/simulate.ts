import type { Command } from 'commander';
import { InputError } from '../errors.js';
import type { BipartiteGraph, SideName } from '../graph/graph.js';
import { NAMED_PROCESSES, namedProcess } from '../process/examples.js';
import { type Intensity, sampleGraphex } from '../process/graphex.js';
import { PAPER_SIMULATION } from '../process/parameters.js';
import { simulate } from '../process/poisson-model.js';
import type { TaskOptions } from '../progress.js';
import { edgesFormat, writeEdges } from '../store/table.js';
import { grouped, short } from '../text/numbers.js';
import { addCommonOptions, decimalNumber, pause, runCommand, wholeNumber } from './command.js';
import { addForce, checkOutputs } from './outputs.js';
import { textTable } from './text-table.js';

/** The numbers of one side: option, its place in the law, what it is. Ranges are the library's to judge. */
const SIDE_OPTIONS = [
  ['sigma', 'GGP tail index of the $: below 0 dense, 0 to below 1 sparse'],
  ['tau', 'GGP exponential tilt of the $'],
  ['size', 'size of the $'],
  ['shape', 'Gamma shape of a feature of the $'],
  ['rate', 'Gamma rate of a feature of the $'],
] as const;
const SIDE_NAMES = ['users', 'items'] as const;

interface Values {
  readonly output: string;
  readonly features: number;
  readonly tolerance: number;
  readonly multi?: true;
  readonly process?: string;
  readonly force?: boolean;
  readonly [option: string]: unknown;
}

/** What is printed and goes into --json, whichever process was drawn. */
interface Drawn {
  readonly graph: BipartiteGraph;
  readonly atoms: Readonly<Record<SideName, number>>;
  /** Weight (or, of a general process, depth) at which a side was cut; null: it was not. */
  readonly cut: Readonly<Record<SideName, number | null>>;
  readonly more: Readonly<Record<string, unknown>>;
}

export function register(program: Command): void {
  const command = program
    .command('simulate')
    .description('Draws a graph from the sparse Poisson matrix model, or from a general graphex process.')
    .requiredOption('-o, --output <file>', 'edges as .parquet, .csv or .tsv, the latter two also .gz');
  for (const [name, meaning] of SIDE_OPTIONS) {
    for (const side of SIDE_NAMES) {
      const flag = `--${name}-${side}`;
      const initial = PAPER_SIMULATION[side][name];
      command.option(`${flag} <x>`, meaning.replace('$', side), decimalNumber(flag), initial);
    }
  }
  command
    .option('--features <k>', 'number of features', wholeNumber('--features'), PAPER_SIMULATION.features)
    .option('--multi', 'keep the number of edges between two vertices')
    .option(
      '--tolerance <share>',
      'share of the vertices that the cut of small weights may miscount',
      decimalNumber('--tolerance'),
      1e-4,
    )
    .option(
      '--process <name>',
      `a general process instead, with sizes of its own unless given: ${Object.keys(NAMED_PROCESSES).join(', ')}`,
    );
  addForce(command);
  addCommonOptions(command, [
    'graphex simulate -o simulated.parquet',
    'graphex simulate -o small.csv --size-users 120 --size-items 120 --sigma-items -0.3',
    'graphex simulate -o power-law.csv --process power-law --size-users 50',
  ]);
  command.addHelpText(
    'after',
    `\nProcesses:\n${Object.entries(NAMED_PROCESSES)
      .map(([name, { description }]) => `  ${name}: ${description}`)
      .join('\n')}`,
  );
  command.action((values: Values) =>
    runCommand(command, async ({ seed, threads, signal, onProgress }) => {
      edgesFormat(values.output);
      await checkOutputs({ files: [values.output], inputs: [], force: values.force });
      const task = { seed, threads, signal, onProgress };
      const drawn =
        values.process === undefined
          ? await drawModel(values, task)
          : await drawProcess(command, values, task);
      await pause(signal);
      onProgress({ stage: 'writing', done: 0 });
      await writeEdges(values.output, drawn.graph);
      const { graph, atoms, cut, more } = drawn;
      const counts = {
        users: graph.users.count,
        items: graph.items.count,
        edges: graph.edges,
        total: graph.total,
      };
      return {
        json: { ...counts, atoms, cut, ...more, seed, output: values.output },
        text: `${describe(drawn)}\nwrote ${values.output}`,
      };
    }),
  );
}

async function drawModel(values: Values, task: TaskOptions & { readonly seed: number }): Promise<Drawn> {
  const law = (side: SideName) => {
    const value = (name: string) => values[`${name}${side === 'users' ? 'Users' : 'Items'}`] as number;
    return {
      sigma: value('sigma'),
      tau: value('tau'),
      shape: value('shape'),
      rate: value('rate'),
      size: value('size'),
    };
  };
  const { features, tolerance } = values;
  const { graph, atoms, cut, missingMass, dust } = await simulate({
    users: law('users'),
    items: law('items'),
    features,
    tolerance,
    multigraph: values.multi === true,
    ...task,
  });
  return { graph, atoms, cut, more: { missingMass, dust } };
}

async function drawProcess(
  command: Command,
  values: Values,
  task: TaskOptions & { readonly seed: number },
): Promise<Drawn> {
  const { process } = namedProcess(values.process!);
  const given = (option: string) => command.getOptionValueSource(option) === 'cli';
  const allowed = new Set([
    'output',
    'force',
    'process',
    'sizeUsers',
    'sizeItems',
    'json',
    'seed',
    'threads',
    'quiet',
  ]);
  for (const option of command.options) {
    if (given(option.attributeName()) && !allowed.has(option.attributeName())) {
      throw new InputError(
        `${option.long} has no meaning with --process ${values.process}: leave one of them out`,
      );
    }
  }
  const sizes = {
    users: given('sizeUsers') ? (values.sizeUsers as number) : process.sizes.users,
    items: given('sizeItems') ? (values.sizeItems as number) : process.sizes.items,
  };
  const { graph, users, items } = await sampleGraphex({ ...process, sizes, ...task });
  const depth = (intensity: Intensity) => ('depth' in intensity ? intensity.depth : null);
  return {
    graph,
    atoms: { users: users.positions.length, items: items.positions.length },
    cut: { users: depth(process.users), items: depth(process.items) },
    more: { process: values.process, sizes },
  };
}

function describe({ graph, atoms, cut }: Drawn): string {
  const { users, items, edges, total } = graph;
  const cutText = (value: number | null) => (value === null || value === 0 ? 'none' : short(value, 4));
  const rows = [
    ['', 'users', 'items'],
    ['vertices', grouped(users.count), grouped(items.count)],
    ['atoms drawn', grouped(atoms.users), grouped(atoms.items)],
    ['cut', cutText(cut.users), cutText(cut.items)],
  ];
  const density = edges === 0 ? 0 : edges / users.count / items.count;
  const counted = graph.multigraph ? `, ${grouped(total)} with their counts` : '';
  return `${textTable(rows)}\n${grouped(edges)} edges${counted}, density ${short(density, 4)}`;
}
