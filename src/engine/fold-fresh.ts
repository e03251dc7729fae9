// `foldFresh` composed of the operations that every engine has: for engines without a pass of their own for it.

import { type Engine, type FoldFresh, meansOf, type TableValues } from './engine.js';

type Composed = Pick<Engine, 'createTable' | 'write' | 'update' | 'read'>;

/** Writes what rows start with, then calls `update` with means. */
export function withFoldFresh<Made extends Composed>(engine: Made): Made & { readonly foldFresh: FoldFresh } {
  const foldFresh: FoldFresh = {
    createTable: (rows, features, split) => {
      const ones = startValues(new Float32Array(rows).fill(1), 1, features);
      return engine.createTable(features, ones, 'mean', split);
    },
    async fold(own, index, other, { hyper, otherMass, start, steps }) {
      const { weight, feature } = start;
      const values =
        typeof weight === 'number'
          ? { weightShape: weight, weightRate: 1, featureShape: feature, featureRate: 1 }
          : startValues(weight, feature, own.features);
      const all: Promise<unknown>[] = [engine.write(own, values, 'mean')];
      const options = { hyper: { ...hyper, size: 0 }, activity: 'mean', otherMass } as const;
      for (let step = 0; step < steps; step++) all.push(engine.update(own, index, other, options));
      await Promise.all(all);
    },
    means: async (own) => meansOf(await engine.read(own), own.features),
  };
  return { ...engine, foldFresh };
}

/** Weights with these means, and the same value for every feature. */
function startValues(weight: Float32Array | Float64Array, feature: number, features: number): TableValues {
  const rows = weight.length;
  const all = (value: number, length: number) => new Float32Array(length).fill(value);
  return {
    weightShape: weight,
    weightRate: all(1, rows),
    featureShape: all(feature, rows * features),
    featureRate: all(1, rows * features),
  };
}
