// `foldFresh` composed of the operations that every engine has: for engines without a pass of their own for it.

import { type Engine, type FoldFresh, gammasOf, meansOf } from './engine.js';

type Composed = Pick<Engine, 'createTable' | 'write' | 'update' | 'read'>;

/** Writes what rows start with, then calls `update` with means. `own` replaces parts of it. */
export function withFoldFresh<Made extends Composed>(
  engine: Made,
  own?: Partial<FoldFresh>,
): Made & { readonly foldFresh: FoldFresh } {
  const foldFresh: FoldFresh = {
    createTable: (rows, features, split) => {
      const ones = (length: number) => new Float32Array(length).fill(1);
      return engine.createTable(features, gammasOf(ones(rows * features), rows), 'mean', split);
    },
    async fold(table, index, other, { hyper, otherMass, start, steps }) {
      const values = {
        weightShape: start.weight,
        weightRate: 1,
        featureShape: start.feature,
        featureRate: 1,
      };
      const all: Promise<unknown>[] = [engine.write(table, values, 'mean')];
      const options = { hyper: { ...hyper, size: 0 }, activity: 'mean', otherMass } as const;
      for (let step = 0; step < steps; step++) all.push(engine.update(table, index, other, options));
      await Promise.all(all);
    },
    means: async (table) => meansOf(await engine.read(table), table.features),
    ...own,
  };
  return { ...engine, foldFresh };
}
