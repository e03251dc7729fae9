// The number of open connections is bounded. Idle connections must not keep new clients out, so the one that has been
// idle longest is closed for a new one.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The two numbers are explained in limits.ts. */
export function limitConnections(
  server: Server,
  { connections, spareConnections }: Readonly<Record<'connections' | 'spareConnections', number>>,
): void {
  let open = 0;
  /** Connections without a request, those that have been idle longest first. */
  const idle = new Set<Socket>();
  server.on('connection', (socket) => {
    open++;
    if (open > connections) {
      const [oldest] = idle;
      if (oldest) {
        idle.delete(oldest);
        oldest.destroy();
      } else if (open > connections + spareConnections) socket.destroy();
    }
    idle.add(socket);
    socket.once('close', () => {
      open--;
      idle.delete(socket);
    });
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    idle.delete(socket);
    response.once('close', () => {
      if (!socket.destroyed) idle.add(socket);
    });
  });
}
