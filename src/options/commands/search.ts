// Options of `graphex search`.

import { ITEM_TITLES, LIST } from './similar.js';

export const SEARCH = { n: LIST.n };

export const SEARCH_COMMAND = ITEM_TITLES;
