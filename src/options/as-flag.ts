// Options as the command line writes them. Texts of the library name options by their own names.

import { COMMANDS } from './commands.js';
import type { WriteOption } from './error.js';
import { withArgument } from './error.js';
import { listOptions, shortFlag } from './option-list.js';

/** The flag of an option: --where for `where`, --no-header for `header` with the argument false. */
export const asFlag: WriteOption = (path, argument) => {
  for (const parts of Object.values(COMMANDS)) {
    for (const declared of Object.values(parts)) {
      const leaf = listOptions(declared).find((one) => one.path.join('.') === path);
      if (leaf?.option.kind === 'flag' && (argument === 'true' || argument === 'false')) {
        const flag = argument === 'true' ? leaf.flag : leaf.off;
        if (flag !== undefined) return shortFlag(flag);
      } else if (leaf?.flag !== undefined) return withArgument(shortFlag(leaf.flag), argument);
    }
  }
  return withArgument(path, argument);
};
