import { describe, expect, it } from 'vitest';
import type { Generation } from '../../src/serve/generation.js';
import { createCurrentModel } from '../../src/serve/model-files.js';

const later = () => new Promise((resolve) => setTimeout(resolve, 5));

/** Models that count how many of them are in memory. */
function loader() {
  const loads: string[] = [];
  let resident = 0;
  let most = 0;
  const load = async (path: string): Promise<Generation> => {
    loads.push(path);
    resident++;
    most = Math.max(most, resident);
    await later();
    if (path === 'broken') {
      resident--;
      throw new Error('broken');
    }
    const close = async () => {
      await later();
      resident--;
    };
    return { path, close } as Generation;
  };
  return { load, loads, most: () => most, resident: () => resident };
}

const quiet = { onSwap: () => {}, onFailure: () => {} };

describe('the current model', () => {
  it('is one of at most two in memory, and equal waiting loads are merged', async () => {
    const { load, loads, most, resident } = loader();
    const model = createCurrentModel({ first: await load('a'), folder: undefined, load, ...quiet });
    const swaps = Array.from({ length: 6 }, () => model.swap(undefined));
    expect(new Set(await Promise.all(swaps)).size).toBe(1);
    for (let i = 0; i < 3; i++) await model.swap(undefined);
    expect(loads).toHaveLength(5);
    expect(most()).toBe(2);
    await model.close();
    expect(resident()).toBe(0);
  });

  it('stays if the next one cannot be loaded', async () => {
    const { load } = loader();
    const first = { path: 'broken', close: async () => {} } as Generation;
    const model = createCurrentModel({ first, folder: undefined, load, ...quiet });
    await expect(model.swap(undefined)).rejects.toThrow('broken');
    expect(model.current()).toBe(first);
    await expect(model.swap('other.safetensors')).rejects.toMatchObject({ kind: 'cannot-do' });
  });
});
