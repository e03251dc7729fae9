// graphex partition: data → a folder of shards.

import { DATA_HELP } from '../../ingest/formats.js';
import { asFlag } from '../../options/as-flag.js';
import { COMMANDS } from '../../options/commands.js';
import { nextLine, wrap } from '../../report/terminal/text-table.js';
import { readingSentences } from '../../report/words/reading.js';
import { partitionFiles } from '../../shard/partition-folder.js';
import { type Partition, partitionGraph } from '../../shard/partition-graph.js';
import { short } from '../../text/numbers.js';
import { many, present } from '../../text/phrases.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import { declareCommand } from '../command.js';
import { checkOutputs } from '../outputs.js';
import { dataArgument, dataJson } from '../read-data.js';

/** With fewer edges of an item in a shard, the work per item outweighs the work per edge. */
const FEW_EDGES = 25;

export const register = declareCommand(
  'partition',
  {
    description:
      'Cuts data into shards, out of core: for fits on several machines and of data beyond memory.',
    takes: { '<data...>': DATA_HELP },
    examples: [
      'graphex partition ratings.parquet --shards 64 -o shards/',
      'mpirun -n 4 --bind-to none graphex fit shards/ -o model.safetensors',
    ],
  },
  async ({ task }, { own, options: asked, read: reader }, given: string[]) => {
    const data = await dataArgument(given);
    const { output = '.', force } = own;
    await checkOutputs({
      files: [reader.rejects],
      folder: {
        path: output,
        names: partitionFiles(asked.shards ?? COMMANDS.partition.options.shards.default),
      },
      inputs: data.sources,
      force,
    });
    const result = await partitionGraph(data.sources, output, { ...asked, ...reader, force, ...task });
    const { guess, names: _, ...document } = result;
    return { json: { ...dataJson(data), ...document, output }, text: words(result, guess, output) };
  },
);

function words(result: Partition, guess: Partition['guess'], output: string): string {
  const { shards, users, items, edges, read } = result;
  const names = result.names ?? USERS_AND_ITEMS;
  const each = edges / (items * shards);
  return present([
    guess && `${wrap(readingSentences({ read, guess }, asFlag).join(' '))}\n`,
    `${many(users, names.users)} × ${many(items, names.items)}, ${many(edges, 'edge')} in ${many(shards, 'shard')}`,
    each < FEW_EDGES &&
      wrap(
        `In a shard, ${names.items.many} have ${short(each)} edges on average. Below ${FEW_EDGES}, fewer --shards make a fit faster.`,
      ),
    `wrote ${output}`,
    nextLine('fit', output, '-o', 'model.safetensors'),
  ]).join('\n');
}
