// The search for items: time of the index and of queries of many kinds over random titles. Times are processor time, best and worst of five.
//
//   node scripts/run-ts.js bench/search.ts [titles]

import { VertexIds } from '../src/graph/ids.js';
import { randomStream } from '../src/math/random.js';
import { createItemSearch } from '../src/predict/search-index.js';

const N = Number(process.argv[2] ?? 500000);
const random = randomStream(1, 3);
const letters = 'etaoinshrdlucmfwypvbgkjqxz';
const vocabulary = Array.from({ length: 120000 }, () =>
  Array.from({ length: 3 + random.below(8) }, () => letters[Math.floor(26 * random.uniform() ** 2)]).join(''),
);
const word = () => vocabulary[Math.floor(vocabulary.length * random.uniform() ** 4)];
const titles = Array.from(
  { length: N },
  () =>
    `${['The ', 'A ', ''][random.below(3)]}${Array.from({ length: 1 + random.below(5) }, word).join(' ')} (${1950 + random.below(75)})`,
);
const degree = Uint32Array.from({ length: N }, () => Math.floor(10 / (random.uniform() + 1e-4)));
const t = performance.now();
const search = createItemSearch(VertexIds.range(N), titles, degree);
console.log('index', (performance.now() - t).toFixed(0), 'ms');
const queries = [
  'a',
  't',
  'th',
  'the',
  'the a',
  '1',
  '19',
  '1999',
  'harry potter',
  titles[5],
  titles[77].slice(0, 9),
  `${vocabulary[50000]}q`,
  'zzxxqq',
  'hary poter tse',
  vocabulary[3].slice(1),
  'e',
  'the e (1990)',
  'x y z w a b c d e f g h',
];
for (const q of queries) {
  const times: number[] = [];
  let found = 0;
  for (let i = 0; i < 5; i++) {
    const c = process.cpuUsage();
    found = search(q, 10).length;
    const d = process.cpuUsage(c);
    times.push((d.user + d.system) / 1000);
  }
  console.log(q.slice(0, 30).padEnd(30), found, Math.min(...times).toFixed(1), Math.max(...times).toFixed(1));
}
