// The public surface as the compiler sees it: what index.d.ts and browser.d.ts of dist/ export, and what that mentions.

import { join, sep } from 'node:path';
import { ts } from '@ts-morph/common';
import { root } from './installed.js';

const dist = join(root, 'dist').split(sep).join('/');

export interface Surface {
  readonly checker: ts.TypeChecker;
  /** Name → what it stands for. */
  readonly exports: ReadonlyMap<string, ts.Symbol>;
}

/** What an entry of the package exports. */
export function surfaceOf(entry: 'index' | 'browser'): Surface {
  const program = ts.createProgram([`${dist}/${entry}.d.ts`], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
    types: [],
    noEmit: true,
  });
  const checker = program.getTypeChecker();
  const file = checker.getSymbolAtLocation(program.getSourceFile(`${dist}/${entry}.d.ts`)!)!;
  const exports = checker
    .getExportsOfModule(file)
    .map((symbol) => [symbol.name, target(checker, symbol)] as const);
  return { checker, exports: new Map(exports) };
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

/** The types of the package that a node names: not those that a declaration of options stands for. */
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
