// How a worker starts, in Node and in a browser: the one place that knows the difference.

export interface WorkerRequest {
  readonly id: number;
  readonly task: string;
  readonly input: unknown;
}

export interface WorkerReply {
  readonly id: number;
  readonly output?: unknown;
  readonly error?: { readonly name: string; readonly message: string; readonly stack?: string };
}

export interface WorkerHandle {
  post(request: WorkerRequest): void;
  terminate(): Promise<void>;
}

export interface WorkerEvents {
  onMessage(reply: WorkerReply): void;
  onDeath(reason: string): void;
}

const inNode = typeof process !== 'undefined' && process.versions?.node !== undefined;

export function cores(): number {
  return typeof navigator !== 'undefined' && navigator.hardwareConcurrency
    ? navigator.hardwareConcurrency
    : nodeCores;
}

const nodeCores = inNode ? (await import('node:os')).availableParallelism() : 1;

/** Tests import the TypeScript sources, but a worker needs JavaScript: take the built twin in dist/. */
function built(url: URL): URL {
  return new URL(url.href.replace(/\/src\/(.*?)(\.ts|\.js)$/, '/dist/$1.js'));
}

const entry = (): URL =>
  import.meta.url.endsWith('.ts')
    ? built(new URL('./worker.ts', import.meta.url))
    : new URL('./worker.js', import.meta.url);

export async function spawnWorker(moduleUrl: URL, events: WorkerEvents): Promise<WorkerHandle> {
  const url = import.meta.url.endsWith('.ts') ? built(moduleUrl) : moduleUrl;
  return inNode ? spawnInNode(url, events) : spawnInBrowser(url, events);
}

async function spawnInNode(moduleUrl: URL, events: WorkerEvents): Promise<WorkerHandle> {
  const { Worker } = await import('node:worker_threads');
  const worker = new Worker(entry(), { workerData: { moduleUrl: moduleUrl.href } });
  let closing = false;
  worker.on('message', events.onMessage);
  worker.on('error', (error) => events.onDeath(error instanceof Error ? error.message : String(error)));
  worker.on('exit', (code) => {
    if (!closing) events.onDeath(`it exited with status ${code}`);
  });
  // A pool that the caller forgot must not keep the process alive; pending calls do.
  return {
    post: (request) => worker.postMessage(request),
    terminate: async () => {
      closing = true;
      await worker.terminate();
    },
  };
}

function spawnInBrowser(moduleUrl: URL, events: WorkerEvents): WorkerHandle {
  const worker = new Worker(entry(), { type: 'module', name: moduleUrl.href });
  worker.onmessage = (event) => events.onMessage(event.data);
  worker.onerror = (event) => events.onDeath(event.message);
  return {
    post: (request) => worker.postMessage(request),
    terminate: async () => worker.terminate(),
  };
}
