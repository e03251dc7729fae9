// The library in a bundled page: the cpu engine in Web Workers, the browser's own WebGPU
// (SwiftShader's), and the same numbers as here.

import { describe, expect, test } from 'vitest';
import { BipartiteGraph, fit, recommend } from '../../src/browser.js';
import { randomStream } from '../../src/math/random.js';
import { chromium, ISOLATED } from '../browser/chromium.js';
import { bundled, visitFolder } from '../consumers/bundled.js';

const PAGE = `
  import { BipartiteGraph, fit, recommend } from 'graphex/browser';
  const answer = (body) => fetch('/answer', { method: 'POST', body: JSON.stringify(body) });
  try {
    const { edges, options } = await (await fetch('/question')).json();
    const graph = BipartiteGraph.fromEdges(edges);
    const answers = { isolated: crossOriginIsolated, cores: navigator.hardwareConcurrency };
    for (const engine of ['cpu', 'gpu']) {
      const stages = [];
      const result = await fit(graph, {
        ...options,
        engine,
        threads: 2,
        onProgress: ({ stage }) => stages.push(stage),
      }).catch((error) => ({ error: error.name + ': ' + error.message }));
      answers[engine] = result.error ? result : {
        bound: result.model.bound,
        engine: result.engine,
        threads: result.threads,
        leftover: Array.from(result.model.users.unseenMass),
        stages,
        top: (await recommend(result.model, { user: 7 }, { n: 5 })).map(({ item }) => item),
      };
    }
    await answer(answers);
  } catch (error) {
    await answer({ error: String(error.stack ?? error) });
  }
`;

/** A graph large enough to be cut among workers, from a seed. */
function question() {
  const random = randomStream(17);
  const [users, items]: [number[], number[]] = [[], []];
  for (let e = 0; e < 4000; e++) {
    users.push(e < 200 ? e : Math.floor(200 * random.uniform() ** 2));
    items.push(e < 200 ? e % 120 : Math.floor(120 * random.uniform() ** 2));
  }
  const edges = { users, items, userCount: 200, itemCount: 120, multigraph: false };
  return { edges, options: { features: 6, iterations: 60, seed: 5 } };
}

interface Answer {
  readonly bound: number;
  readonly engine: string;
  readonly threads: number;
  readonly leftover: readonly number[];
  readonly stages: readonly string[];
  readonly top: readonly string[];
}
interface Answers {
  readonly error?: string;
  readonly isolated: boolean;
  readonly cpu: Answer & { readonly error?: string };
  readonly gpu: Answer & { readonly error?: string };
}

/** The results of the page in Chromium. */
function ask(): Promise<Answers> {
  const body = JSON.stringify(question());
  return visitFolder<Answers>(bundled(PAGE), ISOLATED, { '/question': { type: '.json', body } });
}

describe.skipIf(!chromium)('in a browser', async () => {
  const answers = chromium ? await ask() : undefined;
  const { edges, options } = question();
  const here = await fit(BipartiteGraph.fromEdges(edges), { ...options, engine: 'cpu', threads: 2 });

  test('the modules load, and shared memory is there', () => {
    expect(answers!.error).toBeUndefined();
    expect(answers!.isolated).toBe(true);
  });

  test('the cpu engine in Web Workers gives what it gives in threads of Node', async () => {
    const { cpu } = answers!;
    expect(cpu.error).toBeUndefined();
    expect(cpu.threads).toBe(2);
    expect(cpu.engine).toBe(here.engine);
    // Kernels give the same bits; Math.exp and Math.log of two versions of V8 may differ in their last digit.
    expect(Math.abs(cpu.bound / here.model.bound! - 1)).toBeLessThan(1e-9);
    for (const [k, leftover] of here.model.users.unseenMass.entries())
      expect(Math.abs(cpu.leftover[k] / leftover - 1)).toBeLessThan(1e-9);
    expect(cpu.stages).toContain('fitting');
    const top = await recommend(here.model, { user: 7 }, { n: 5 });
    expect(cpu.top).toEqual(top.map(({ item }) => item));
  });

  test("the gpu engine on the browser's own WebGPU agrees with it", () => {
    const { gpu } = answers!;
    expect(gpu.error).toBeUndefined();
    expect(gpu.engine).toMatch(/^WebGPU on .*swiftshader/i);
    expect(Math.abs(gpu.bound / here.model.bound! - 1)).toBeLessThan(1e-4);
  });
});

test.runIf(!chromium)('no Chromium to test in: install chromium', () => {});
