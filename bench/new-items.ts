// Recall of items without edges: `fit` with a table about the items, the tf-idf profile and popularity by attribute, on splits by
// new items. Settings are found on held-back items of the training parts.
//
//   node bin/graphex.js split DATA --method new-items --seed 1 -o DIR
//   node bin/graphex.js fit DIR --method ranking -o DIR/plain.safetensors
//   node scripts/run-ts.js bench/new-items.ts TABLE DIR [DIR …]
//
// The variable INFO_COLUMNS names columns, as --info-columns does. The model file must be fitted without the table: scores by attributes are added here, and their time is printed.

import { join } from 'node:path';
import { askedColumns } from '../src/attributes/columns.js';
import { readSideInfo } from '../src/attributes/side-info.js';
import { againstAttributes } from '../src/evaluate/compare-rankings.js';
import { evaluateModel } from '../src/evaluate/evaluate.js';
import { readSideTable } from '../src/ingest/side-file.js';
import { mean } from '../src/math/moments.js';
import { fitContent } from '../src/predict/content/fit-content.js';
import { loadModel } from '../src/store/model-file.js';
import { loadSplit } from '../src/store/split-folder.js';

const [table, ...folders] = process.argv.slice(2);
const columns = askedColumns(process.env.INFO_COLUMNS?.split(','));
const sums = new Map<string, number[]>();
for (const folder of folders) {
  const split = await loadSplit(folder);
  const plain = await loadModel(join(folder, 'plain.safetensors'));
  const began = performance.now();
  const { info } = readSideInfo(split.train.items, {
    name: table,
    rows: await readSideTable(table),
    columns,
  });
  const read = performance.now();
  const items = await fitContent(plain, info, { seed: 1, threads: 1 });
  const seconds = [(read - began) / 1000, (performance.now() - read) / 1000];
  const model = { ...plain, info: { items } };
  console.log(folder, JSON.stringify(items.content?.settings));
  console.log(`  reading ${seconds[0].toFixed(1)} s, scores by attributes ${seconds[1].toFixed(1)} s`);
  for (const n of [20, 100]) {
    const found = await evaluateModel(model, split, { n, draws: 0 });
    const { profile, attributePopularity } = (await againstAttributes(model, found, { seed: 1 }))!;
    const recalls = [
      profile.other.mean.recall,
      attributePopularity.other.mean.recall,
      found.ranking.all.mean.recall,
    ];
    const ratio = recalls[2] / Math.max(recalls[0], recalls[1]);
    const figures = recalls.map((recall) => recall.toFixed(4)).join(', ');
    console.log(`  recall@${n}: profile, popularity, graphex ${figures}; ratio ${ratio.toFixed(3)}`);
    sums.set(`@${n}`, [...(sums.get(`@${n}`) ?? []), ratio]);
  }
}
for (const [name, ratios] of sums) {
  console.log(`mean ratio ${name} over ${ratios.length} splits: ${mean(ratios).toFixed(3)}`);
}
