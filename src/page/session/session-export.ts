// Files that leave the session: the model, tables, and the results of the study.

import { InputError } from '../../errors.js';
import type { BipartiteGraph } from '../../graph/graph.js';
import { parquetPieces } from '../../parquet/write.js';
import { cell, edgeColumns, edgeText } from '../../store/edge-rows.js';
import { listPieces } from '../../store/list-pieces.js';
import { modelToBytes } from '../../store/model-bytes.js';
import type { StudyResults } from '../../study/results.js';
import { study } from '../../study/study.js';
import { VERSION } from '../../version.js';
import type { Api, Export } from '../protocol.js';
import type { Task } from './session.js';
import { currentData } from './session-data.js';
import { currentTitles, titleOrigin } from './session-item-table.js';
import { allLists, blobOf } from './session-lists.js';
import { currentModel, currentSplit } from './session-model.js';

export async function answerExport(asked: Api['export'][0], task: Task): Promise<Api['export'][1]> {
  switch (asked.what) {
    case 'model': {
      const bytes = modelToBytes(currentModel(asked.purpose).model) as Uint8Array<ArrayBuffer>;
      const name = asked.purpose === 'recommend' ? 'ranker.safetensors' : 'model.safetensors';
      return { name, blob: new Blob([bytes]) };
    }
    case 'features':
      return { name: 'features.csv', blob: new Blob([featureTable()], { type: 'text/csv' }) };
    case 'edges':
      return edges(asked);
    case 'list':
      return shownList(asked);
    case 'lists':
      return allLists(asked, task);
  }
}

async function edges({ part, format }: Extract<Export, { what: 'edges' }>): Promise<Api['export'][1]> {
  const graph = partOf(part);
  const table = { rows: graph.edges, columns: edgeColumns(graph) };
  const pieces = format === 'csv' ? edgeText(graph, ',') : parquetPieces([table]);
  return { name: `${part === 'all' ? 'edges' : part.toLowerCase()}.${format}`, blob: await blobOf(pieces) };
}

/** The list in the format of `graphex recommend`. */
async function shownList({ list, format }: Extract<Export, { what: 'list' }>): Promise<Api['export'][1]> {
  const titled = list.items.some(({ title }) => title !== undefined);
  const blob = await blobOf(listPieces(format, only(list), titled));
  // The list of one user is not taken for the lists of all.
  const user = list.user.replace(/[^\p{L}\p{N}_-]+/gu, '-').slice(0, 60);
  return { name: `recommendations-${user}.${format}`, blob };
}

async function* only<T>(value: T): AsyncGenerator<readonly T[]> {
  yield [value];
}

function partOf(part: Extract<Export, { what: 'edges' }>['part']): BipartiteGraph {
  if (part === 'all') return currentData().graph;
  const split = currentSplit();
  if (!split) throw new InputError('nothing was held out, so there are no parts: fit again with a test part');
  return split[part];
}

/** The items of each feature with the largest weights, one row each. */
function featureTable(): string {
  const titled = currentTitles().size > 0;
  const rows = currentModel()
    .recommender.features({ n: 50 })
    .flatMap(({ feature, share, items }) =>
      items.map(
        ({ item, weight }) =>
          `${feature},${share},${cell(item, ',')},${weight}${titled ? `,${cell(currentTitles().get(item) ?? '', ',')}` : ''}`,
      ),
    );
  return `${[`feature,share,item,weight${titled ? ',title' : ''}`, ...rows].join('\n')}\n`;
}

/** The study of these data, as `graphex study` makes it. The page draws its charts. */
export async function answerStudy({ seed, features }: Api['study'][0], task: Task): Promise<StudyResults> {
  const { graph, read, opened } = currentData();
  const { setAside: _, ...reader } = opened.choice;
  const origin = {
    ...read.guess,
    source: opened.source,
    sourceFrom: null,
    read: reader,
    rows: read.read,
    titles: titleOrigin(),
    runtime: `graphex ${VERSION} in a browser`,
    machine: {
      cpu: 'unknown in a browser',
      cores: navigator.hardwareConcurrency || 1,
      memory: ((navigator as { readonly deviceMemory?: number }).deviceMemory ?? 0) * 2 ** 30,
      system: navigator.userAgent,
    },
    threads: null,
    kept: opened.kept && { users: opened.kept.users, items: opened.kept.items },
  };
  const titles = currentTitles();
  return study(graph, {
    seed,
    features: [features],
    origin,
    ...task,
    titles: titles.size > 0 ? titles : undefined,
  });
}
