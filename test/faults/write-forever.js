// Writes two results over each other by turns until it is killed: node write-forever.js KIND PATH A B, where A and B are
// what to read them from. Says "writing" once it has begun.

const [kind, path, ...sources] = process.argv.slice(2);
const library = await import('../../dist/index.js');

const load = {
  model: (source) => library.loadModel(source),
  split: (source) => library.loadSplit(source),
  edges: async (source) => (await library.readGraph(source)).graph,
}[kind];
const save = { model: library.saveModel, split: library.saveSplit, edges: library.writeEdges }[kind];

const results = [];
for (const source of sources) results.push(await load(source));
process.stdout.write('writing\n');
for (let turn = 0; ; turn++) await save(path, results[turn % results.length]);
