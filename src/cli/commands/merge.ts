// graphex merge: a model by shard → one model file.

import { InputError, throwIfAborted } from '../../errors.js';
import { nextLine } from '../../report/terminal/text-table.js';
import { isModelFolder, mergeModel, openModelShards } from '../../shard/model-folder.js';
import { loadModel, saveModel } from '../../store/model-file.js';
import { modelState } from '../../store/model-state.js';
import { many } from '../../text/phrases.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import { declareCommand } from '../command.js';
import { checkOutputs } from '../outputs.js';
import { refuseStorage, storageOf } from '../ranker-storage.js';

export const register = declareCommand(
  'merge',
  {
    description: 'Joins a model by shard, as `graphex fit --by-shard` writes it, into one file.',
    takes: { '<model>': 'a folder made by `graphex fit --by-shard`' },
    examples: ['graphex merge model/ -o model.safetensors', 'graphex fit shards/ --by-shard -o model/'],
  },
  async ({ signal, onProgress }, { own }, folder: string) => {
    const { output = '', force, ...flags } = own;
    await checkOutputs({ files: [output], inputs: [folder], force });
    if (!(await isModelFolder(folder))) {
      // The reader of model files throws the best error for anything else.
      await loadModel(folder);
      throw new InputError(`${folder}: this model is in one file already; there is nothing to merge`);
    }
    const parts = await openModelShards(folder);
    const storage = storageOf(flags);
    if (parts.itemsModel.type !== 'ranker') refuseStorage(storage);
    const model = await mergeModel(parts, (done, total) => {
      throwIfAborted(signal);
      onProgress({ stage: 'reading', done, total, unit: 'shards' });
    });
    onProgress({ stage: 'writing', done: 0 });
    await saveModel(output, model, storage);
    const { users, items } = model;
    const names = model.names ?? USERS_AND_ITEMS;
    return {
      json: {
        model: folder,
        shards: parts.shards.length,
        users: users.count,
        items: items.count,
        edges: parts.edges,
        state: modelState(model),
        output,
      },
      text: `wrote ${output}: ${many(users.count, names.users)} of ${many(parts.shards.length, 'shard')}, ${many(items.count, names.items)}\n${nextLine('recommend', output, '--user', 'ID')}`,
    };
  },
);
