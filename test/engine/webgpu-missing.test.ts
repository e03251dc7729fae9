// The package webgpu is optional: only a request for a GPU mentions that it is missing.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { onEngine } from '../../src/engine/select.js';
import { DeviceError } from '../../src/errors.js';

vi.mock('webgpu', () => {
  throw Object.assign(new Error("Cannot find package 'webgpu'"), { code: 'ERR_MODULE_NOT_FOUND' });
});

const { DAWN_NODE, VK_ICD_FILENAMES } = process.env;
beforeEach(() => {
  delete process.env.DAWN_NODE;
  // So that a machine without a GPU looks for the package, too.
  process.env.VK_ICD_FILENAMES = '/none.json';
});
afterEach(() => {
  if (DAWN_NODE !== undefined) process.env.DAWN_NODE = DAWN_NODE;
  if (VK_ICD_FILENAMES === undefined) delete process.env.VK_ICD_FILENAMES;
  else process.env.VK_ICD_FILENAMES = VK_ICD_FILENAMES;
});

it('the gpu engine names the package to install, in one sentence', async () => {
  const error = await onEngine('gpu', { edges: 1, features: 1 }, 1, async () => 'opened').catch(
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(DeviceError);
  expect((error as Error).message).toBe(
    'the package "webgpu" is not installed: npm install webgpu, or use the cpu engine',
  );
});

it('auto uses the cpu engine even for work that a GPU would speed up, without a warning', async () => {
  const spoken = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    await onEngine('auto', { edges: 1e9, features: 32 }, 1, async ({ engine, reason }) => {
      expect(engine.name).toBe('cpu');
      expect(reason).toMatchObject({
        code: 'no-gpu',
        detail: expect.stringContaining('"webgpu" is not installed'),
      });
    });
    expect(spoken).not.toHaveBeenCalled();
  } finally {
    spoken.mockRestore();
  }
});
