// Why an engine ran.

import type { EngineReason } from '../../engine/select.js';

const REASONS: Readonly<Record<EngineReason['code'], (detail: string) => string>> = {
  asked: () => 'asked for',
  'only-one': () => 'baselines have only one',
  'little-work': () => 'too little work for a GPU to pay',
  gpu: (detail) => `a GPU is there (${detail})`,
  'no-gpu': (detail) => `no GPU: ${detail}`,
  'software-gpu': (detail) => `the only GPU is a software one (${detail})`,
  'gpu-failed': (detail) => `the GPU failed: ${detail}`,
};

/** Why the engine of a fit ran, without a capital or a full stop. */
export function engineWords({ code, detail = '', iteration }: EngineReason): string {
  return REASONS[code](detail) + (iteration === undefined ? '' : `; went on from iteration ${iteration}`);
}
