// The options of `graphex study`: those of its parts, gathered.

import { type Command, Option } from 'commander';
import { ENGINE_NAMES } from '../engine/select.js';
import { InputError } from '../errors.js';
import { BASELINES, type BaselineName } from '../evaluate/baselines/list.js';
import { LEAST_REPLICAS, MOST_REPLICAS } from '../evaluate/calibrate.js';
import { SIDES } from '../graph/graph.js';
import { PROTOCOLS } from '../predict/draw-plan.js';
import type { StudyOptions } from '../study/options.js';
import { decimalNumber, wholeNumber } from './command.js';

const HYPER = [
  ['sigma', 'tail index of the sparse model (default: estimated)', { below: 1 }],
  ['size', 'size of the sparse model (default: learned)', { min: 0 }],
  ['tau', 'tilt (default: 1)', { above: 0 }],
  ['shape', 'Gamma shape of the features (default: 0.1)', { above: 0 }],
  ['rate', 'Gamma rate of the features (default: 0.1)', { above: 0 }],
] as const;

/** Options that go to the library by their own name. */
const PLAIN = [
  'model',
  'features',
  'repeats',
  'draws',
  'calibrate',
  'protocol',
  'testUsers',
  'testItems',
  'n',
  'depth',
  'trials',
  'engine',
  'iterations',
  'tolerance',
  'start',
  'restarts',
  'learn',
  'sizes',
  'topicItems',
] as const satisfies readonly (keyof StudyOptions)[];

export function addStudyOptions(command: Command): Command {
  const fraction = (flag: string) => decimalNumber(flag, { above: 0, below: 1 });
  const group = (name: string, flags: string, text: string) => new Option(flags, text).helpGroup(`${name}:`);
  command
    .addOption(
      group('Study', '--model <kind>', 'which models to fit (default: both)').choices([
        'sparse',
        'dense',
        'both',
      ]),
    )
    .addOption(
      group('Study', '-k, --features <list>', 'numbers of features, as in 10,30,60 (default: 30)').argParser(
        featureList,
      ),
    )
    .addOption(
      group('Study', '--repeats <n>', 'repeat on n splits: mean and spread (default: 1)').argParser(
        wholeNumber('--repeats', { min: 1, max: 1000 }),
      ),
    )
    .addOption(
      group(
        'Study',
        '--titles <file>',
        'titles of the items, for the view of the features: a table of ids and titles',
      ),
    )
    .addOption(
      group('Study', '--topic-items <n>', 'items shown of each feature (default: 10)').argParser(
        wholeNumber('--topic-items', { min: 1, max: 1000 }),
      ),
    )
    .addOption(
      group('Split', '--test-users <p>', 'held-out fraction of the users (default: 0.2)').argParser(
        fraction('--test-users'),
      ),
    )
    .addOption(
      group('Split', '--test-items <q>', 'fraction of the items that are test (default: 0.2)').argParser(
        fraction('--test-items'),
      ),
    )
    .addOption(
      group(
        'Evaluation',
        '--draws <n>',
        'posterior predictive draws; 0: no predictive checks (default: 100)',
      ).argParser(wholeNumber('--draws', { min: 0, max: 100_000 })),
    )
    .addOption(
      group(
        'Evaluation',
        '--calibrate <n>',
        `correct the intervals by n replicas of the sparse model, at least ${LEAST_REPLICAS}, each a fit of its own (default: 0)`,
      ).argParser(wholeNumber('--calibrate', { min: 0, max: MOST_REPLICAS })),
    )
    .addOption(
      group('Evaluation', '--protocol <name>', 'what draws may know (default: unconditional)').choices([
        ...PROTOCOLS,
      ]),
    )
    .addOption(
      group('Evaluation', '-n <n>', 'length of the lists of recall (default: 20)').argParser(
        wholeNumber('-n', { min: 1, max: 1e6 }),
      ),
    )
    .addOption(
      group('Evaluation', '--depth <n>', 'ranks that nDCG looks at (default: 1000)').argParser(
        wholeNumber('--depth', { min: 1, max: 1e9 }),
      ),
    )
    .addOption(
      group(
        'Evaluation',
        '--baselines <list>',
        `all, none, or some of ${BASELINES.join(',')} (default: all)`,
      ).argParser(baselineList),
    )
    .addOption(
      group(
        'Evaluation',
        '--trials <n>',
        'settings tried for one baseline, at most (default: 20; 8 from 2 M edges)',
      ).argParser(wholeNumber('--trials', { min: 1, max: 1000 })),
    )
    .addOption(
      group(
        'Evaluation',
        '--ranker',
        'also fit for ranking (default: on up to 2 million edges, above which it takes longest)',
      ).default(undefined),
    )
    .addOption(group('Evaluation', '--no-ranker', 'leave out the fit made for ranking').default(undefined))
    .addOption(group('Fit', '--engine <name>', 'what computes (default: auto)').choices([...ENGINE_NAMES]))
    .addOption(
      group('Fit', '--iterations <n>', 'most iterations (default: 400)').argParser(
        wholeNumber('--iterations', { min: 1, max: 1e9 }),
      ),
    )
    .addOption(
      group('Fit', '--tolerance <x>', 'relative change of the bound to stop at (default: 1e-5)').argParser(
        decimalNumber('--tolerance', { above: 0 }),
      ),
    )
    .addOption(group('Fit', '--start <kind>', 'where to begin (default: warm)').choices(['warm', 'cold']))
    .addOption(
      group('Fit', '--restarts <n>', 'fit from n seeds, keep the best bound (default: 1)').argParser(
        wholeNumber('--restarts', { min: 1, max: 1000 }),
      ),
    )
    .addOption(
      group('Fit', '--learn <list>', 'maximize the bound over these: sigma,size,tau,shape,rate').argParser(
        commaList,
      ),
    )
    .addOption(
      group('Fit', '--sizes <way>', 'how sizes are found (default: bound)').choices(['bound', 'paper']),
    );
  for (const side of SIDES) {
    for (const [name, text, range] of HYPER) {
      const flag = `--${name}-${side}`;
      command.addOption(group('Fit', `${flag} <x>`, text).argParser(decimalNumber(flag, range)));
    }
  }
  return command;
}

/** Only what was said: the library has the defaults. */
export function studyOptions(values: Readonly<Record<string, unknown>>): StudyOptions {
  const options: Record<string, unknown> = {};
  for (const name of PLAIN) if (values[name] !== undefined) options[name] = values[name];
  if (values.baselines !== undefined) options.baselines = values.baselines;
  if (values.ranker !== undefined) options.ranker = values.ranker;
  for (const side of SIDES) {
    const suffix = side === 'users' ? 'Users' : 'Items';
    const given = HYPER.flatMap(([name]) => {
      const value = values[`${name}${suffix}`];
      return value === undefined ? [] : [[name, value] as const];
    });
    if (given.length > 0) options[side] = Object.fromEntries(given);
  }
  return options;
}

function featureList(text: string): number[] {
  const parse = wholeNumber('-k', { min: 1, max: 512 });
  return text.split(',').map((part) => parse(part));
}

function commaList(text: string): string[] {
  return text.split(',').filter((part) => part.trim() !== '');
}

function baselineList(text: string): boolean | BaselineName[] {
  if (text === 'all' || text === 'none') return text === 'all';
  return commaList(text).map((part) => {
    const name = BASELINES.find((b) => b === part.trim());
    if (!name) {
      throw new InputError(`--baselines ${text}: "${part}" is not one of all, none, ${BASELINES.join(', ')}`);
    }
    return name;
  });
}
