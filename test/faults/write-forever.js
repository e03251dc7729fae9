// Writes two results over each other in turn until it is killed: node write-forever.js KIND PATH A B, where A and B are
// what to read them from. Says "writing" once it has begun.

const [kind, path, ...sources] = process.argv.slice(2);

// Imports only the needed part of the library, because this program is started many times.
const { load, save } = await {
  model: async () => {
    const { loadModel, saveModel } = await import('../../dist/store/model-file.js');
    return { load: loadModel, save: saveModel };
  },
  split: async () => {
    const { loadSplit, saveSplit } = await import('../../dist/store/split-folder.js');
    return { load: loadSplit, save: saveSplit };
  },
  edges: async () => {
    const [{ readGraph }, { writeEdges }] = await Promise.all([
      import('../../dist/ingest/read.js'),
      import('../../dist/store/write-table.js'),
    ]);
    return { load: async (source) => (await readGraph(source)).graph, save: writeEdges };
  },
}[kind]();

const results = [];
for (const source of sources) results.push(await load(source));
process.stdout.write('writing\n');
for (let turn = 0; ; turn++) await save(path, results[turn % results.length]);
