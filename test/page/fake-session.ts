// A session that answers when a test says so, in place of the worker.

import { vi } from 'vitest';
import { InputError, packError } from '../../src/errors.js';
import type { Api, Method, Request } from '../../src/page/protocol.js';

interface Heard {
  readonly id: number;
  readonly method: Method;
  readonly input: unknown;
  cancelled: boolean;
}

let heard: Heard[] = [];
let send: (message: unknown) => void;

class FakeWorker {
  onmessage?: (event: { readonly data: unknown }) => void;
  constructor() {
    send = (data) => this.onmessage!({ data });
  }
  postMessage(request: Request): void {
    if ('cancel' in request) heard.find(({ id }) => id === request.id)!.cancelled = true;
    else heard.push({ ...request, cancelled: false });
  }
}

/** Starts before the first request of a test file. */
export function fakeSession(): void {
  heard = [];
  vi.stubGlobal('Worker', FakeWorker);
  vi.stubGlobal('SESSION', './session.js');
  vi.stubGlobal('document', { baseURI: 'http://host/' });
  vi.stubGlobal('window', { crossOriginIsolated: false });
}

function lastOf(method: Method): Heard {
  const found = heard.findLast((one) => one.method === method);
  if (!found) throw new Error(`${method} was not asked for`);
  return found;
}

/** Whether the last request of a method was cancelled. */
export const isCancelled = (method: Method): boolean => lastOf(method).cancelled;
export const timesAsked = (method: Method): number => heard.filter((one) => one.method === method).length;

/** What the page did with it is done when this resolves. */
const settled = () => new Promise((resolve) => setTimeout(resolve));

export async function answer<M extends Method>(method: M, output: Partial<Api[M][1]>): Promise<void> {
  send({ id: lastOf(method).id, output });
  await settled();
}

export async function refuse(method: Method, message: string): Promise<void> {
  send({ id: lastOf(method).id, error: packError(new InputError(message)) });
  await settled();
}

export async function sendPart<M extends Method>(method: M, partial: Partial<Api[M][2]>): Promise<void> {
  send({ id: lastOf(method).id, partial });
  await settled();
}

export async function cancelled(cancel: () => void): Promise<void> {
  cancel();
  await settled();
}
