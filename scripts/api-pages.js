// Writes docs/api: the public API from the doc comments of dist/index.d.ts, a page for each room. Run with
// `npm run docs:api`; a test compares what is there with what this would write.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ts } from '@ts-morph/common';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist').split(sep).join('/');

/** @returns {{ name: string, room: string, symbol: ts.Symbol, checker: ts.TypeChecker, browser: boolean }[]} */
export function publicNames() {
  const entries = ['index', 'browser'].map((name) => `${dist}/${name}.d.ts`);
  const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, strict: true, types: [] };
  const program = ts.createProgram(entries, options);
  const checker = program.getTypeChecker();
  const [index, browser] = entries.map((entry) =>
    checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry))),
  );
  const inPages = new Set(browser.map(({ name }) => name));
  return index
    .map((found) => {
      const symbol = found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
      const file = symbol.declarations[0].getSourceFile().fileName.slice(dist.length + 1);
      const room = file.includes('/') ? file.slice(0, file.indexOf('/')) : 'values';
      return { name: found.name, room, symbol, checker, browser: inPages.has(found.name) };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The text of a doc comment; a link to a name is the name. */
export function documentation({ symbol, checker }) {
  return ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim();
}

/** The programs that a doc comment gives as examples. */
export function examples({ symbol, checker }) {
  return symbol
    .getJsDocTags(checker)
    .filter(({ name }) => name === 'example')
    .map(({ text }) =>
      ts
        .displayPartsToString(text)
        .replace(/^```\w*\n|\n```$/g, '')
        .trim(),
    );
}

/** Declarations as the compiler has written them, without the comment above, which is told in words. */
function declaration({ name, symbol, checker }) {
  const flags = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias;
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  const [first] = symbol.declarations;
  // What stands for a list of names, or for options that are declared elsewhere, is told in full.
  if (ts.isTypeAliasDeclaration(first) && first.type.getText().startsWith('(typeof '))
    return `type ${name} = ${checker.typeToString(type, undefined, flags)};`;
  if (ts.isInterfaceDeclaration(first) && /\bOptionsOf</.test(first.heritageClauses?.[0]?.getText() ?? '')) {
    const fields = checker.getPropertiesOfType(type).map((property) => {
      const text = ts.displayPartsToString(property.getDocumentationComment(checker)).trim();
      const mark = property.flags & ts.SymbolFlags.Optional ? '?' : '';
      const shown = checker.typeToString(checker.getTypeOfSymbol(property), undefined, flags);
      return `${text ? `  /** ${text} */\n` : ''}  readonly ${property.name}${mark}: ${shown};\n`;
    });
    return `interface ${name} {\n${fields.join('')}}`;
  }
  return symbol.declarations
    .map((node) => (ts.isVariableDeclaration(node) ? node.parent.parent : node))
    .map((node) =>
      node
        .getText()
        .replace(/^export (declare )?/, '')
        .replace(/^ {4}/gm, '  '),
    )
    .join('\n');
}

const anchor = (name) => name.toLowerCase();

/** File name → text. */
export function apiPages() {
  const names = publicNames();
  const rooms = [...new Set(names.map(({ room }) => room))].sort();
  const pages = {};
  for (const room of rooms) {
    const own = names.filter((entry) => entry.room === room);
    const parts = own.map((entry) => {
      const where = entry.browser ? '' : '\n\nOnly where there are files: not in `graphex/browser`.';
      const shown = examples(entry).map((text) => `\n\n\`\`\`js\n${text}\n\`\`\``);
      return `## ${entry.name}\n\n${documentation(entry)}${where}\n\n\`\`\`ts\n${declaration(entry)}\n\`\`\`${shown.join('')}\n`;
    });
    pages[`${room}.md`] = `# ${room}\n\n[All names](README.md)\n\n${parts.join('\n')}`;
  }
  const list = rooms.map((room) => {
    const links = names
      .filter((entry) => entry.room === room)
      .map(({ name }) => `[${name}](${room}.md#${anchor(name)})`);
    return `## [${room}](${room}.md)\n\n${links.join(' · ')}\n`;
  });
  pages['README.md'] =
    `# API\n\nWhat \`import … from 'graphex'\` gives, by the room of the source that it lives in. Made from the doc comments by\n\`npm run docs:api\`.\n\n${list.join('\n')}`;
  return pages;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(root, 'docs', 'api');
  mkdirSync(folder, { recursive: true });
  const pages = apiPages();
  for (const name of readdirSync(folder)) if (!(name in pages)) rmSync(join(folder, name));
  for (const [name, text] of Object.entries(pages)) writeFileSync(join(folder, name), text);
}
