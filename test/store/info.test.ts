import { expect, it } from 'vitest';
import { readSideInfo } from '../../src/attributes/side-info.js';
import { fit } from '../../src/fit/fit.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { sideTable } from '../../src/ingest/side-table.js';
import { modelFromBytes, modelToBytes } from '../../src/store/model-bytes.js';

it('a model file holds titles and attributes', async () => {
  const graph = BipartiteGraph.fromPairs([
    ['ann', 'tea'],
    ['bob', 'milk'],
    ['bob', 'tea'],
  ]);
  const { model } = await fit(graph, { features: 1 });
  const text =
    'id,title,kind,year\ntea,Green tea,hot;green,1999\nmilk,Whole milk,cold;white,\ncocoa,Hot cocoa,hot;white,2001\n';
  const { info } = readSideInfo(graph.items, {
    name: 'drinks',
    rows: sideTable(new TextEncoder().encode(text), 'drinks', [',']),
  });
  const bytes = modelToBytes({ ...model, info: { items: info } });
  const read = await modelFromBytes(bytes);
  expect(read.info?.items?.titles).toEqual(['Whole milk', 'Green tea', 'Hot cocoa']);
  const plain = ({ added, ...rest }: typeof info) => ({ ...rest, added: [added.at(0), added.length] });
  expect(plain(read.info!.items!)).toEqual(plain(info));
  expect(plain((await modelFromBytes(modelToBytes(read))).info!.items!)).toEqual(plain(info));
  expect((await modelFromBytes(modelToBytes(model))).info).toBeUndefined();
});
