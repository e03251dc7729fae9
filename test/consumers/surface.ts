// The public surface as the compiler sees it: the exports of the package's entries, and the types that these mention.

import { ts } from '@ts-morph/common';
import { declarationProgram, dist } from '../../scripts/declarations.js';

export type EntryName = 'index' | 'browser' | 'report-node' | 'report';

export interface Surface {
  readonly checker: ts.TypeChecker;
  /** Name → what it stands for. */
  readonly exports: ReadonlyMap<string, ts.Symbol>;
  /** Names that can be imported from this entry or from its companion. */
  readonly importable: ReadonlySet<ts.Symbol>;
}

/** `graphex` and `graphex/report`, in Node and in browsers. */
const COMPANIONS: Readonly<Record<EntryName, EntryName>> = {
  index: 'report-node',
  'report-node': 'index',
  browser: 'report',
  report: 'browser',
};

/** What an entry of the package exports. */
export function surfaceOf(entry: EntryName): Surface {
  const paths = [entry, COMPANIONS[entry]].map((name) => `${dist}/${name}.d.ts`);
  const program = declarationProgram(paths);
  const checker = program.getTypeChecker();
  const [own, others] = paths.map((path) =>
    checker
      .getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(path)!)!)
      .map((symbol) => [symbol.name, target(checker, symbol)] as const),
  );
  const importable = new Set([...own, ...others].map(([, symbol]) => symbol));
  for (const symbol of [...importable])
    if (symbol.flags & ts.SymbolFlags.TypeAlias) {
      const { symbol: meant } = checker.getDeclaredTypeOfSymbol(symbol);
      if (meant) importable.add(meant);
    }
  return { checker, exports: new Map(own), importable };
}

function target(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** Calls `see` with every node of every exported declaration and the name of the export. */
export function walk({ exports }: Surface, see: (node: ts.Node, owner: string) => void): void {
  for (const [name, symbol] of exports) {
    const visit = (node: ts.Node): void => {
      if (
        ts.canHaveModifiers(node) &&
        node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)
      )
        return;
      see(node, name);
      ts.forEachChild(node, visit);
    };
    for (const declaration of symbol.declarations ?? []) visit(declaration);
  }
}

/** The types of the package that a node names, except those that stand for a declaration of options. */
export function typeNamed({ checker }: Surface, node: ts.Node): ts.Symbol | undefined {
  const name = ts.isTypeReferenceNode(node)
    ? node.typeName
    : ts.isExpressionWithTypeArguments(node)
      ? node.expression
      : undefined;
  const found = name && checker.getSymbolAtLocation(name);
  const symbol = found && target(checker, found);
  const file = symbol?.declarations?.[0]?.getSourceFile().fileName;
  if (!file?.startsWith(`${dist}/`) || symbol!.flags & ts.SymbolFlags.TypeParameter) return undefined;
  return file === `${dist}/options/declare.d.ts` ? undefined : symbol;
}
