// Starts a worker in Node or in a browser: the only file that knows the difference.

import { FitError, type PackedError } from '../errors.js';
import type { Progress } from '../progress.js';

export interface WorkerRequest {
  readonly id: number;
  readonly task: string;
  readonly input: unknown;
}

export interface WorkerReply {
  readonly id: number;
  readonly output?: unknown;
  readonly error?: PackedError;
  /** A progress report, not the answer. */
  readonly progress?: Progress;
}

export interface WorkerHandle {
  post(request: WorkerRequest): void;
  terminate(): Promise<void>;
}

export interface WorkerEvents {
  onMessage(reply: WorkerReply): void;
  onDeath(reason: string): void;
}

/** A module of tasks, and the three ways in which it runs. */
export interface TaskModule {
  /** The module's name in `serveTasks`; its file is `NAME.js`. */
  readonly name: string;
  /** In Node: the URL of a file in the same folder. */
  readonly base: string;
  /** In a page. */
  worker(): Worker;
  /** In the caller's thread, if memory cannot be shared. */
  here(): Promise<object>;
}

/**
 * The module of tasks in the file `path`: `taskModule('./NAME.js', import.meta.url)`. A bundler emits the file only if it
 * sees `new Worker(new URL('./NAME.js', import.meta.url))` and `import('./NAME.js')` literally, so the build adds these two
 * arguments to each call (scripts/task-modules.js). Only tests run the sources, where they are missing.
 */
export function taskModule(
  path: string,
  base: string,
  worker: () => Worker = () => {
    throw new Error(`${path}: the sources run only in Node`);
  },
  here: () => Promise<object> = () =>
    import(/* @vite-ignore */ /* webpackIgnore: true */ new URL(path.replace(/js$/, 'ts'), base).href),
): TaskModule {
  return { name: path.slice(2, -3), base, worker, here };
}

/** The name of a worker for the module; workers of other libraries have other names. */
export const workerName = (module: string): string => `graphex:${module}`;

const inNode = typeof process !== 'undefined' && process.versions?.node !== undefined;

export function cores(): number {
  if (inNode) return process.getBuiltinModule('node:os').availableParallelism();
  return (typeof navigator !== 'undefined' && navigator.hardwareConcurrency) || 1;
}

/** Bytes that the process can still allocate; undefined if unknown, as in a page. */
export function freeMemory(): number | undefined {
  if (!inNode) return undefined;
  const { availableMemory } = process as { availableMemory?: () => number };
  return availableMemory?.() ?? process.getBuiltinModule('node:os').freemem();
}

/** Tests import the TypeScript sources, but a worker needs a built file: the one in dist/. */
export function built(url: URL): URL {
  return import.meta.url.endsWith('.ts') ? new URL(url.href.replace(/\/src\/(?!.*\/src\/)/, '/dist/')) : url;
}

export function spawnWorker(module: TaskModule, events: WorkerEvents): WorkerHandle {
  return inNode ? spawnInNode(module, events) : spawnInBrowser(module, events);
}

/** The most that V8 reserves for a worker: 0.7 GiB in Node 20, 1.1 GiB in Node 26. */
const WORKER_ADDRESS_SPACE = 1280 * 2 ** 20;

/** Bytes of addresses that this process may have, and that it has; NaN if there is no limit or nobody knows. */
function addressSpace(): { limit: number; used: number } {
  if (!inNode || process.platform !== 'linux') return { limit: Number.NaN, used: Number.NaN };
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const find = (file: string, pattern: RegExp): number => {
    try {
      return Number(pattern.exec(readFileSync(file, 'utf8'))?.[1]);
    } catch {
      return Number.NaN; // the sandbox has no such file
    }
  };
  return {
    limit: find('/proc/self/limits', /^Max address space +(\d+)/m),
    used: 1024 * find('/proc/self/status', /^VmSize:\s+(\d+) kB/m),
  };
}

/** Whether addresses are limited: then work that one thread does almost as fast starts no workers. */
export function limitsAddresses(): boolean {
  return !Number.isNaN(addressSpace().limit);
}

/** Throws if the limit of addresses has no room for the workers: V8 would end the whole process. */
export function checkAddressSpace(workers: number): void {
  const { limit, used } = addressSpace();
  const need = workers * WORKER_ADDRESS_SPACE;
  if (!(limit - used < need)) return;
  const mib = (bytes: number) => Math.floor(bytes / 2 ** 20);
  throw new FitError(
    `not enough memory for ${workers} worker thread${workers === 1 ? '' : 's'}: they reserve ${mib(need)} MiB of addresses, ` +
      `and of a limit of ${mib(limit)} MiB (ulimit -v) ${Math.max(0, mib(limit - used))} are left; raise the limit or use ` +
      'fewer threads',
  );
}

function spawnInNode({ name, base }: TaskModule, events: WorkerEvents): WorkerHandle {
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  const worker = new Worker(built(new URL(`./${name}.js`, base)), {
    workerData: { name: workerName(name) },
    // Do not inherit the flags of the process: some, such as --input-type, prevent a worker from starting.
    execArgv: [],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  let closing = false;
  worker.on('message', events.onMessage);
  worker.on('messageerror', (error) => events.onDeath(error.message));
  worker.on('error', (error) => events.onDeath(error instanceof Error ? error.message : String(error)));
  worker.on('exit', (code) => {
    if (!closing) events.onDeath(`it exited with status ${code}`);
  });
  return {
    post: (request) => worker.postMessage(request),
    terminate: async () => {
      closing = true;
      await worker.terminate();
    },
  };
}

function spawnInBrowser(module: TaskModule, events: WorkerEvents): WorkerHandle {
  const worker = module.worker();
  worker.onmessage = (event) => events.onMessage(event.data);
  worker.onmessageerror = () => events.onDeath('its answer could not be read');
  // A script that cannot be loaded or run raises this event, without a message.
  worker.onerror = (event) =>
    events.onDeath(event.message || `its script ${module.name}.js could not be loaded`);
  return {
    post: (request) => worker.postMessage(request),
    terminate: async () => worker.terminate(),
  };
}
