// Writes docs/api from the doc comments of the built declarations: a page for each task, and api-report.txt, one line
// for each export. Run with `npm run docs:api`; a test compares what is there with what this would write.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ts } from '@ts-morph/common';
import { declarationProgram, dist, root } from './declarations.js';

/** The tasks in the order of work, with the files that belong to each; a file belongs to the first task that matches it. */
const TASKS = [
  ['read', 'Read data', /^(ingest|graph|text|files|attributes)\//],
  ['sparsity', 'Check sparsity', /^sparsity\//],
  ['split', 'Split', /^sample\//],
  ['draw', 'Draw', /^(process|math)\/|^predict\/draw\//],
  ['fit', 'Fit', /^(fit|engine|shard)\/|^evaluate\/baselines\/|^metrics\/setting/],
  ['recommend', 'Recommend', /^(predict|topn)\//],
  ['evaluate', 'Evaluate', /^(evaluate|metrics)\//],
  ['forecast-audit', 'Forecast and audit', /^(forecast|audit)\//],
  ['study', 'Study', /^study\//],
  ['store', 'Store', /^store\//],
  ['serve', 'Serve', /^(serve|options)\//],
  ['report', 'Report', /^report\//],
  ['values', 'Errors and progress', /^/],
];

/** What most programs need, in the order of use. */
const TEN = {
  readGraph: 'read a table',
  checkSparsity: 'see whether the data are sparse',
  split: 'hold out users and items',
  fit: 'fit a model',
  recommend: 'list items for a user',
  evaluateModel: 'evaluate a model on a split',
  forecastGrowth: 'forecast how the data grow',
  saveModel: 'write a model to a file',
  loadModel: 'read it again',
  study: 'compare all methods in one call',
};

/** Every export of both entry points, with the entry to import it from and whether browsers have it. */
export function publicNames() {
  const entries = ['index', 'browser', 'report-node', 'report'].map((name) => `${dist}/${name}.d.ts`);
  const program = declarationProgram(entries);
  const checker = program.getTypeChecker();
  const [index, browser, reportNode, report] = entries.map((entry) =>
    checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry))),
  );
  const describe = (entry, inBrowser) => (found) => {
    const symbol = found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
    const file = symbol.declarations[0].getSourceFile().fileName.slice(dist.length + 1);
    const [task] = TASKS.find(([, , files]) => files.test(file));
    const isValue = (symbol.flags & ts.SymbolFlags.Value) !== 0;
    const browserHas = inBrowser.some(({ name }) => name === found.name);
    return { name: found.name, entry, task, symbol, checker, isValue, browser: browserHas };
  };
  return [
    ...index.map(describe('graphex', browser)),
    ...reportNode.map(describe('graphex/report', report)),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
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

/** Declarations as the compiler has written them, without the comment above, which the page has as text. */
function declaration({ name, symbol, checker }) {
  const [first] = symbol.declarations;
  // A list of names is written out.
  if (ts.isTypeAliasDeclaration(first) && first.type.getText().startsWith('(typeof ')) {
    const flags = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias;
    return `type ${name} = ${checker.typeToString(checker.getDeclaredTypeOfSymbol(symbol), undefined, flags)};`;
  }
  return symbol.declarations
    .map((node) => (ts.isVariableDeclaration(node) ? node.parent.parent : node))
    .map((node) =>
      node
        .getText()
        .replace(/^export (declare )?/, '')
        .replace(/^( {4})+/gm, (spaces) => spaces.slice(spaces.length / 2)),
    )
    .join('\n');
}

/** One line for each export: entry point, and its declaration without comments. */
export function apiReport() {
  const line = (entry) =>
    `${entry.entry}  ${declaration(entry)
      .replace(/\/\*\*[\s\S]*?\*\//g, '')
      .replace(/\s+/g, ' ')
      .trim()}`;
  return `${publicNames().map(line).sort().join('\n')}\n`;
}

const anchor = (name) => name.toLowerCase();
const code = (language, text) => `\`\`\`${language}\n${text}\n\`\`\``;

function section(entry) {
  const notes = [
    entry.entry === 'graphex' ? '' : `Import it from \`${entry.entry}\`.`,
    entry.browser ? '' : 'Not available in browsers.',
  ].filter(Boolean);
  return [
    `## ${entry.name}`,
    documentation(entry),
    ...(notes.length > 0 ? [notes.join(' ')] : []),
    code('ts', declaration(entry)),
    ...examples(entry).map((text) => code('js', text)),
  ].join('\n\n');
}

/** File name → text. */
export function apiPages() {
  const names = publicNames();
  const pages = {};
  const lists = [];
  for (const [task, title] of TASKS) {
    const own = names.filter((entry) => entry.task === task);
    if (own.length === 0) continue;
    const ordered = [...own.filter(({ isValue }) => isValue), ...own.filter(({ isValue }) => !isValue)];
    pages[`${task}.md`] = `# ${title}\n\n[All names](README.md)\n\n${ordered.map(section).join('\n\n')}\n`;
    const links = (entries) => entries.map(({ name }) => `[${name}](${task}.md#${anchor(name)})`).join(' · ');
    const [values, types] = [own.filter(({ isValue }) => isValue), own.filter(({ isValue }) => !isValue)];
    lists.push(
      [
        `## [${title}](${task}.md)`,
        ...(values.length > 0 ? [links(values)] : []),
        ...(types.length > 0 ? [`Types: ${links(types)}`] : []),
      ].join('\n\n'),
    );
  }
  const rows = Object.entries(TEN).map(([name, what]) => {
    const { task } = names.find((entry) => entry.name === name);
    return `| [\`${name}\`](${task}.md#${anchor(name)}) | ${what} |`;
  });
  pages['README.md'] = `# API

\`import { … } from 'graphex'\` has the functions and their types. Charts, pages, sentences and the types of the details of
results are in \`graphex/report\`. \`npm run docs:api\` writes these pages from the doc comments.

## The ten functions you need

| function | use it to |
|---|---|
${rows.join('\n')}

${lists.join('\n\n')}
`;
  return pages;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(root, 'docs', 'api');
  mkdirSync(folder, { recursive: true });
  const files = { ...apiPages(), 'api-report.txt': apiReport() };
  for (const name of readdirSync(folder)) if (!(name in files)) rmSync(join(folder, name));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}
