// Loads the server's code only when a server is started: programs that only fit do without it.

import type { RunningServer, ServeOptions } from './server.js';

export type { RunningServer, ServeOptions };

/**
 * Serves the model at `path` over HTTP, and the page for a browser at `/`. Without a model, it serves the page alone.
 * Resolves when the server answers. `/docs` lists the endpoints.
 * @example
 * import { BipartiteGraph, fit, saveModel, serve } from 'graphex';
 * const graph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk'], ['bob', 'tea'], ['cleo', 'milk']]);
 * const { model } = await fit(graph, { features: 2 });
 * await saveModel('served.safetensors', model);
 * const server = await serve('served.safetensors', { port: 0 });
 * console.log(await (await fetch(`${server.url}/v1/popular?n=2`)).json());
 * await server.close();
 */
export async function serve(path: string | undefined, options: ServeOptions = {}): Promise<RunningServer> {
  const { startServer } = await import('./server.js');
  return startServer(path, options);
}
