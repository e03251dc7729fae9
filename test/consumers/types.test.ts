// The types of the package as its consumers meet them: complete, strict, and in a page without Node.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ts } from '@ts-morph/common';
import { describe, expect, test } from 'vitest';
import { installed, root } from './installed.js';
import { surfaceOf, typeNamed, walk } from './surface.js';

const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  noEmit: true,
  target: 'es2022',
};

const PROGRAM = `
  import { BipartiteGraph, checkSparsity, createRecommender, fit, type FitOptions, type Model, recommend, split } from 'graphex';

  const seed: number | undefined = Math.random() < 0.5 ? 3 : undefined;
  const graph: BipartiteGraph = BipartiteGraph.fromPairs([['ann', 'tea'], ['bob', 'milk']]);
  const options: FitOptions = { features: 2, seed, threads: undefined, signal: undefined, onProgress: undefined };
  const { model } = await fit(graph, options);
  const any: Model = model;
  const recommendations = await recommend(model, { likes: ['tea'] }, { n: 5, threads: undefined });
  export const first: string | undefined = recommendations[0]?.item;
  export const verdict: string = (await checkSparsity(graph, { seed })).verdict.users;
  export const parts = split(graph, { testUsers: 0.5, seed });
  export const recommender = createRecommender(any);
`;

/** The errors of the compiler for a project of these files, a line each. */
function compile(
  files: Readonly<Record<string, string>>,
  compilerOptions: object,
  beside: readonly string[] = [],
): string[] {
  const tsconfig = JSON.stringify({
    compilerOptions: { ...STRICT, ...compilerOptions },
    files: Object.keys(files),
  });
  const folder = installed({ ...files, 'tsconfig.json': tsconfig }, beside);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', '.'], { cwd: folder, encoding: 'utf8' });
  return stdout.split('\n').filter((line) => /^\S/.test(line));
}

const NODE = { module: 'nodenext', lib: ['es2023', 'dom'], types: ['node'] };
const PAGE = {
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: [],
};

describe('a strict consumer', () => {
  test('compiles against the packed package in Node, declarations included, and wrong calls are errors', () => {
    const files =
      "\n  import { readGraph, saveModel } from 'graphex';\n  export const io = [readGraph, saveModel];\n";
    const report =
      "\n  import { chartDocument, densityChart, drawChart, type DensityCurves } from 'graphex/report';\n  export const svg = async (curves: DensityCurves): Promise<string> => drawChart(await chartDocument(), densityChart(curves));\n";
    const wrong = PROGRAM.replace('features: 2', "features: 'two'");
    expect(
      compile({ 'program.ts': PROGRAM + files + report, 'wrong.ts': wrong }, NODE, ['@types/node']),
    ).toEqual([expect.stringMatching(/^wrong\.ts.*TS2322/)]);
  });

  test('compiles in a page without the types of Node, and finds nothing there that needs files', () => {
    const report =
      "import { densityChart, type Chart } from 'graphex/report';\nexport const draw: (...given: Parameters<typeof densityChart>) => Chart = densityChart;\n";
    const browser = PROGRAM.replace("'graphex'", "'graphex/browser'");
    const files = "import { readGraph } from 'graphex';\nexport const read = readGraph;\n";
    expect(
      compile(
        { 'program.ts': PROGRAM, 'browser.ts': browser, 'report.ts': report, 'files.ts': files },
        { ...PAGE, customConditions: ['browser'] },
      ),
    ).toEqual([expect.stringMatching(/^files\.ts.*TS2305.*readGraph/)]);
  });
});

describe.each(['index', 'browser', 'report-node', 'report'] as const)('what %s exports', (entry) => {
  const surface = surfaceOf(entry);
  const { checker, exports, importable } = surface;

  test('mentions no type that cannot be imported by name', () => {
    expect(exports.size).toBeGreaterThan(100);
    expect(exports.size).toBeLessThan(220);
    const nameless = new Set<string>();
    walk(surface, (node, owner) => {
      const symbol = typeNamed(surface, node);
      if (symbol && !importable.has(symbol)) nameless.add(`${symbol.name}, of ${owner}`);
    });
    expect([...nameless]).toEqual([]);
  });

  test('lets every optional field be undefined', () => {
    const closed: string[] = [];
    walk(surface, (node, owner) => {
      if (!ts.isPropertySignature(node) || !node.questionToken || !node.type) return;
      const type = checker.getTypeFromTypeNode(node.type);
      const open = (part: ts.Type) =>
        (part.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0;
      if (!(type.isUnion() ? type.types.some(open) : open(type)))
        closed.push(`${owner}.${node.name.getText()}`);
    });
    expect(closed).toEqual([]);
  });
});
