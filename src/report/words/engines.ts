// Why an engine ran.

import type { EngineReason } from '../../engine/select.js';

const REASONS: Readonly<Record<EngineReason['code'], (detail: string) => string>> = {
  asked: () => 'as requested',
  'only-one': () => 'the only one for baselines',
  'little-work': () => 'too little work for a GPU',
  gpu: (detail) => `GPU found (${detail})`,
  'no-gpu': (detail) => (/^no GPU/.test(detail) ? detail : `no GPU: ${detail}`),
  'software-gpu': (detail) => `the only GPU is emulated in software (${detail})`,
  'gpu-failed': (detail) => `the GPU failed: ${detail}`,
};

/** Why the engine of a fit ran, without a capital or a full stop. */
export function engineWords({ code, detail = '', iteration }: EngineReason): string {
  return REASONS[code](detail) + (iteration === undefined ? '' : `; continued from iteration ${iteration}`);
}
