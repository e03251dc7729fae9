// The public API, in the order in which data walks through it; nothing else is public.

export * from './browser.js';
export type { FolderOptions } from './files/folder.js';
export { timeColumn, type ValueColumn } from './ingest/intake/value-column.js';
export type { ReadOptions } from './ingest/options.js';
export { readGraph, readWithValues } from './ingest/read.js';
export { chartDocument } from './report/charts/document.js';
export { type RunningServer, type ServeOptions, serve } from './serve/serve.js';
export { type FitPartitionOptions, fitPartition } from './shard/fit-partition.js';
export { type Partition, type PartitionOptions, partitionGraph } from './shard/partition-graph.js';
export { loadCheckpoint, loadModel, loadModelFile, type ModelSource, saveModel } from './store/model-file.js';
export { loadSplit, saveSplit } from './store/split-folder.js';
export { writeEdges } from './store/write-table.js';
