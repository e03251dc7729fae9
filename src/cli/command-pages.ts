// The pages of docs/commands, made from the commands' own help.

import { commandPage } from '../options/command-page.js';
import { COMMANDS, type CommandName } from '../options/commands.js';
import { examplesOf } from './command.js';
import { createProgram } from './main.js';

/** By file name. */
export async function commandPages(): Promise<Record<string, string>> {
  const program = await createProgram();
  const declared = program.commands.filter((command) => Object.hasOwn(COMMANDS, command.name()));
  const pages = declared.map((command): [string, string] => {
    const examples = examplesOf(command);
    const usage = `graphex ${command.name()} ${command.usage()}`;
    const text = { usage, description: command.description(), examples };
    return [`${command.name()}.md`, commandPage(command.name() as CommandName, text)];
  });
  const list = declared.map(
    (command) => `- [graphex ${command.name()}](${command.name()}.md): ${command.description()}`,
  );
  return {
    ...Object.fromEntries(pages),
    'README.md': `# Commands\n\nWritten by \`npm run docs:options\` from the declarations of the options.\n\n${list.join('\n')}\n`,
  };
}
