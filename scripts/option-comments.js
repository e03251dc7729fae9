// Writes out the option types of dist/: `interface FitOptions extends OptionsOf<typeof …>` becomes an interface with a
// field for each option, and each field has the text that --help-all shows, so that an editor shows it too.
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { ts } from '@ts-morph/common';
import { declarationProgram } from './declarations.js';

const FORMAT = ts.TypeFormatFlags.NoTruncation;

/** @param {string[]} entries paths of .d.ts files; everything that they import is written out, too */
export async function writeOptionFields(entries) {
  const program = declarationProgram(entries);
  const checker = program.getTypeChecker();
  const { helpText } = await import('../dist/options/option-list.js');
  for (const file of program.getSourceFiles()) {
    if (!file.fileName.includes('/dist/') || !file.text.includes('OptionsOf<')) continue;
    const edits = [];
    for (const node of file.statements) {
      if (!ts.isInterfaceDeclaration(node)) continue;
      const extended = node.heritageClauses?.[0]?.types ?? [];
      const options = extended.filter((type) => type.expression.getText() === 'OptionsOf');
      if (options.length === 0) continue;
      const fields = [];
      for (const { typeArguments } of options) {
        const runtime = await runtimeOptions(typeArguments[0], checker);
        const declared = checker.getTypeFromTypeNode(typeArguments[0]);
        fields.push(...fieldsOf(declared, runtime, node, '    ', { checker, helpText }));
      }
      const others = extended.filter((type) => !options.includes(type)).map((type) => type.getText());
      const heritage = others.length > 0 ? ` extends ${others.join(', ')}` : '';
      const name =
        node.name.text +
        (node.typeParameters ? `<${node.typeParameters.map((p) => p.getText()).join(', ')}>` : '');
      const own = node.members.map((member) => `    ${member.getFullText().trim()}\n`);
      const named = new Set(node.members.map((member) => member.name?.getText()));
      const rest = fields.filter((field) => !named.has(field.name)).map((field) => field.text);
      edits.push([
        node.getStart(),
        node.end,
        `export interface ${name}${heritage} {\n${[...own, ...rest].join('')}}`,
      ]);
    }
    if (edits.length === 0) continue;
    let text = file.text;
    for (const [from, to, written] of edits.reverse()) text = text.slice(0, from) + written + text.slice(to);
    writeFileSync(file.fileName, text);
  }
}

/** The declarations behind `typeof A & typeof B.c`, as far as their modules export them. */
async function runtimeOptions(node, checker) {
  const found = {};
  const queries = [];
  const visit = (part) => {
    if (ts.isTypeQueryNode(part)) queries.push(part.exprName);
    ts.forEachChild(part, visit);
  };
  visit(node);
  for (const name of queries) {
    const path = name.getText().split('.');
    const first = ts.isQualifiedName(name) ? leftmost(name) : name;
    const symbol = checker.getSymbolAtLocation(first);
    const target = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const file = target?.declarations?.[0]?.getSourceFile().fileName.replace(/\.d\.ts$/, '.js');
    const module = file?.includes('/dist/') && (await import(pathToFileURL(file).href));
    let value = module?.[target.name];
    for (const step of path.slice(1)) value = value?.[step];
    Object.assign(found, value);
  }
  return found;
}

function leftmost(name) {
  return ts.isQualifiedName(name) ? leftmost(name.left) : name;
}

/** The fields of an options object: name, and text with its comment. */
function fieldsOf(declared, runtime, scope, indent, tools) {
  const { checker, helpText } = tools;
  return checker.getPropertiesOfType(declared).map((property) => {
    const type = checker.getTypeOfSymbol(property);
    const option = runtime?.[property.name] ?? literalOption(type, checker);
    // A declaration that no module exports has its text in a comment.
    const help = option.meaning
      ? helpText(option, { details: true })
      : ts.displayPartsToString(property.getDocumentationComment(checker));
    const comment = `${indent}/** ${help.replaceAll('*/', '* /')} */\n`;
    let shown;
    if (option.kind === 'section') {
      const fields = checker.getTypeOfSymbol(checker.getPropertyOfType(type, 'fields'));
      const inner = fieldsOf(fields, option.fields, scope, `${indent}    `, tools);
      shown = `{\n${inner.map(({ text }) => text).join('')}${indent}}`;
    } else {
      const value = valueType(type, checker);
      const text = checker.typeToString(value, scope, FORMAT);
      shown = value.getCallSignatures().length > 0 ? `(${text})` : text;
    }
    const optional = `${indent}readonly ${property.name}?: ${relative(shown, scope)} | undefined;\n`;
    return { name: property.name, text: comment + optional };
  });
}

/** The type that a declared option takes: that of its `Typed<T>`. */
function valueType(option, checker) {
  const brand = checker
    .getPropertiesOfType(option)
    .find(({ escapedName }) => String(escapedName).startsWith('__@VALUE'));
  return checker.getNonNullableType(checker.getTypeOfSymbol(brand));
}

/** An option derived from its type, for declarations that no module exports. */
function literalOption(type, checker) {
  const read = (name) => {
    const property = checker.getPropertyOfType(type, name);
    const value = property && checker.getTypeOfSymbol(property);
    if (!value) return undefined;
    if (value.isLiteral()) return value.value;
    return undefined;
  };
  return {
    kind: read('kind'),
    meaning: read('meaning') ?? '',
    details: read('details'),
    default: read('default'),
    otherwise: read('otherwise'),
  };
}

/** Imports by absolute path become relative ones. */
function relative(text, scope) {
  const folder = scope.getSourceFile().fileName.replace(/\/[^/]*$/, '');
  return text.replace(/import\("([^"]+)"\)/g, (_, path) => {
    const from = folder.split('/');
    const to = path.split('/');
    while (from.length > 0 && from[0] === to[0]) {
      from.shift();
      to.shift();
    }
    return `import("${from.length === 0 ? './' : '../'.repeat(from.length)}${to.join('/')}.js")`;
  });
}
