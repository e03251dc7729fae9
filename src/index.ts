// `graphex` in Node: what browsers have, and what needs files. Nothing else is public.

export * from './browser.js';
export type { FolderOptions } from './files/folder.js';
export { timeColumn, type ValueColumn } from './ingest/intake/value-column.js';
export { readGraph, readWithValues } from './ingest/read.js';
export type { EventRecord, LogRecord, RequestRecord } from './serve/request-log.js';
export { type RunningServer, type ServeOptions, serve } from './serve/serve.js';
export { type FitPartitionOptions, fitPartition, type NotForShards } from './shard/fit-partition.js';
export { type Partition, type PartitionOptions, partitionGraph } from './shard/partition-graph.js';
export { loadFolds, saveFolds } from './store/fold-folder.js';
export { loadCheckpoint, loadModel, type ModelSource, saveModel } from './store/model-file.js';
export { loadSplit, saveSplit } from './store/split-folder.js';
export { writeEdges } from './store/write-table.js';
