// The session: a worker that holds data, split and model, so that the page itself never computes and never freezes. It
// answers one request at a time, in order. Small requests about the model do not wait for a map or a study. A cancelled
// request ends as soon as its work checks the signal.

import { packError, throwIfAborted } from '../../errors.js';
import type { TaskOptions } from '../../progress.js';
import type { Api, Machine, Method, Reply, Request } from '../protocol.js';
import { answerCheck, answerPreview, answerRead, answerThin } from './session-data.js';
import { inLabels } from './session-error.js';
import { answerCompare, answerEvaluate } from './session-evaluate.js';
import { answerFeatures, answerFind, answerMap, answerSimilar } from './session-explore.js';
import { answerExport, answerStudy } from './session-export.js';
import { answerAudit, answerForecast } from './session-growth.js';
import { answerItemTable, answerRemoveItemTable } from './session-item-table.js';
import { answerFindUsers, answerRecommend } from './session-lists.js';
import { answerFit, answerOpenModel } from './session-model.js';

export interface Task extends TaskOptions {
  readonly signal: AbortSignal;
}

/** Answers a request. `sendPartial` sends a part of the answer early. */
type AnswerTo<M extends Method> = (
  input: Api[M][0],
  task: Task,
  sendPartial: (partial: Api[M][2]) => void,
) => Promise<Api[M][1]>;

const answers: { [M in Method]: AnswerTo<M> } = {
  machine: answerMachine,
  preview: answerPreview,
  read: answerRead,
  thin: answerThin,
  check: answerCheck,
  fit: answerFit,
  compare: answerCompare,
  evaluate: answerEvaluate,
  openModel: answerOpenModel,
  features: answerFeatures,
  map: answerMap,
  similar: answerSimilar,
  find: answerFind,
  findUsers: answerFindUsers,
  itemTable: answerItemTable,
  removeItemTable: answerRemoveItemTable,
  recommend: answerRecommend,
  forecast: answerForecast,
  audit: answerAudit,
  study: answerStudy,
  export: answerExport,
};

async function answerMachine(): Promise<Machine> {
  const { webgpuAvailability } = await import('../../engine/webgpu/device.js');
  const found = await webgpuAvailability();
  return {
    burst: await burst(),
    gpu: {
      available: found.available,
      software: found.software,
      detail: found.available ? found.description : found.reason,
    },
  };
}

/** The shortest of some runs of a short computation, in milliseconds. Other programs slow down most runs, so there are pauses. */
async function burst(): Promise<number> {
  const values = new Float32Array(1024);
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 40; run++) {
    if (run % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 40));
    const began = performance.now();
    for (let i = 0; i < 200_000; i++) {
      const at = i & 1023;
      values[at] = Math.exp(-(i % 97) / 50) + 0.5 * values[(7 * at) & 1023];
    }
    best = Math.min(best, performance.now() - began);
  }
  return best;
}

/** Requests that follow a click and must be answered immediately. They change nothing. */
const SMALL: ReadonlySet<Method> = new Set([
  'preview',
  'features',
  'find',
  'findUsers',
  'similar',
  'recommend',
]);

const running = new Map<number, AbortController>();
let last: Promise<unknown> = Promise.resolve();
const reply = (message: Reply) => self.postMessage(message);

self.onmessage = ({ data }: MessageEvent<Request>) => {
  const { id } = data;
  if ('cancel' in data) {
    running.get(id)?.abort();
    return;
  }
  const controller = new AbortController();
  running.set(id, controller);
  const answered = async () => {
    try {
      const answer = answers[data.method] as AnswerTo<Method>;
      const { signal } = controller;
      throwIfAborted(signal);
      const onProgress: Task['onProgress'] = (progress) => reply({ id, progress });
      const output = await answer(data.input as never, { signal, onProgress }, (partial) =>
        reply({ id, partial }),
      );
      reply({ id, output });
    } catch (cause) {
      reply({ id, error: packError(inLabels(cause)) });
    } finally {
      running.delete(id);
    }
  };
  if (SMALL.has(data.method)) void answered();
  else last = last.then(answered);
};
