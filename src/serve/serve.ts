// The server's door, which loads what is behind it only when somebody comes: HTTP is much code for whoever only fits.

import type { RunningServer, ServeOptions } from './server.js';

export type { RunningServer, ServeOptions };

/**
 * Serves the model at `path` over HTTP; resolves when it answers. `/docs` of its address lists the endpoints.
 * @example
 * const server = await serve('model.safetensors', { port: 0 });
 * const response = await fetch(`${server.url}/v1/popular?n=5`);
 * await server.close();
 */
export async function serve(path: string, options: ServeOptions = {}): Promise<RunningServer> {
  const { startServer } = await import('./server.js');
  return startServer(path, options);
}
