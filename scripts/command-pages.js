// Writes docs/commands: a page for each command, from the declarations of its options and its own help. Run with
// `npm run docs:options`; a test compares what is there with what this would write.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { examplesOf } from '../dist/cli/command.js';
import { createProgram } from '../dist/cli/main.js';
import { describeRange } from '../dist/options/check-options.js';
import { COMMANDS } from '../dist/options/commands.js';
import { argumentOf, helpText, listOptions, offText } from '../dist/options/option-list.js';
import { COMMON, COMMON_GROUP, DATA_GROUP, TASK } from '../dist/options/shared.js';

/** By file name. */
export async function commandPages() {
  const program = await createProgram();
  const declared = program.commands.filter((command) => Object.hasOwn(COMMANDS, command.name()));
  const list = declared.map(
    (command) => `- [graphex ${command.name()}](${command.name()}.md): ${command.description()}`,
  );
  return {
    ...Object.fromEntries(declared.map((command) => [`${command.name()}.md`, commandPage(command)])),
    'README.md': `# Commands\n\nWritten by \`npm run docs:options\` from the declarations of the options.\n\n${list.join('\n')}\n`,
  };
}

/** The heading of the options that `--help` shows. */
const COMMON_HEADING = 'Most used';

/** The page of a command: every option with its values, default and name in the library; common options first. */
function commandPage(command) {
  const examples = examplesOf(command);
  const parts = COMMANDS[command.name()];
  const seen = new Set();
  const groups = new Map([[COMMON_HEADING, []]]);
  for (const [part, declared] of Object.entries(parts)) {
    for (const listed of listOptions(declared)) {
      const { option, flag, off } = listed;
      const flags = [flag, off].filter((one) => one !== undefined).join(', ');
      if (flags === '' || seen.has(flags)) continue;
      seen.add(flags);
      const isCommon =
        option.common && option.group !== COMMON_GROUP && !Object.hasOwn(COMMON, listed.path[0]);
      const group = isCommon
        ? COMMON_HEADING
        : (option.group ?? (Object.hasOwn(COMMON, listed.path[0]) ? COMMON_GROUP : 'Other options'));
      groups.set(group, [...(groups.get(group) ?? []), row(listed, part)]);
    }
  }
  const last = (group) => (group === DATA_GROUP ? 1 : group === COMMON_GROUP ? 2 : 0);
  const ordered = [...groups].sort(([a], [b]) => last(a) - last(b));
  return [
    `# graphex ${command.name()}`,
    '',
    command.description(),
    '',
    '```',
    `graphex ${command.name()} ${command.usage()}`,
    '```',
    '',
    ...ordered.flatMap(([group, rows]) => [
      `## ${group}`,
      '',
      '| option | values | meaning | in the library |',
      '|---|---|---|---|',
      ...rows,
      '',
    ]),
    `## ${examples.length === 1 ? 'Example' : 'Examples'}`,
    '',
    '```sh',
    ...examples.map((example) => example.replaceAll(/(^| )graphex /g, '$1npx graphex ')),
    '```',
    '',
  ].join('\n');
}

function row(listed, part) {
  const { path, option, flag, off } = listed;
  const takes = option.kind === 'flag' ? '' : ` <${argumentOf(option)}>`;
  const flags = [flag && `\`${flag}${takes}\``, off && `\`${off}\``].filter(Boolean).join(' ');
  // --json and --quiet mean nothing to a program.
  const shell = part === 'own' || (part === 'common' && !Object.hasOwn(TASK, path[0]));
  const library = shell ? '' : `\`${path.join('.')}\``;
  return `| ${[flags, valuesOf(option), meaningOf(listed), library].map(cell).join(' | ')} |`;
}

/** The meaning of every flag in the row: a flag that only turns its option off has the opposite meaning. */
function meaningOf(listed) {
  const no = offText(listed);
  if (no === undefined) return helpText(listed.option, { details: true });
  return listed.flag === undefined
    ? no
    : `${helpText(listed.option, { details: true })}; \`${listed.off}\`: ${no}`;
}

function valuesOf(option) {
  switch (option.kind) {
    case 'whole':
    case 'decimal':
      return (
        (option.words ?? []).map((word) => `\`${word}\` or `).join('') +
        `${option.kind === 'whole' ? 'whole number' : 'number'}${describeRange(option)}`
      );
    case 'choice':
      return option.values.map((value) => `\`${value}\``).join(', ');
    case 'flag':
      return '';
    case 'list':
      return `list, each ${option.of.kind === 'text' ? 'a text' : valuesOf(option.of)}`;
    case 'column':
      return 'name or number of a column';
    case 'pair':
      return 'two words';
    default:
      return option.kind === 'text' ? 'text' : 'path';
  }
}

/** A bar would end the cell; a sign for less is no tag. */
function cell(text) {
  return text.replaceAll('|', '\\|');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs', 'commands');
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(await commandPages())) writeFileSync(join(folder, name), text);
}
