// Ids, headers, names of files and everything else that comes from outside, made fit to be shown. A control character can
// move a cursor, set a title or fill a clipboard, a bidi mark can turn a line around, a line break can forge a line of our
// own: all are shown as what they are, \u001b, and nothing is longer than a reader wants.

/** Bidi marks, line and paragraph separators, invisible characters (but the joiners, which scripts and emoji need), tags. */
const UNSEEN = String.raw`\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}`;
/** … with C0, DEL, C1 and lone surrogates: what a terminal, an editor or a page could take for more than a character. */
const UNSAFE = new RegExp(String.raw`[\p{Cc}\p{Cs}${UNSEEN}]`, 'gu');
/** Of those the ones that JSON.stringify leaves as they are. */
const UNSAFE_IN_JSON = new RegExp(String.raw`[\x7f-\x9f${UNSEEN}]`, 'gu');

/** An id or a header among other words: longer ones lose their middle. */
const MOST_SHOWN = 80;
/** A sentence about them. */
const MOST_SAID = 2000;

/** An id, a header or a file's name as one readable word: what cannot be seen is written out, what is long is cut. */
export function shown(text: string | number, most = MOST_SHOWN): string {
  return clipped(visible(String(text)), most);
}

/** A message of one line, such as an error or a warning: line breaks are written out, too. */
export function oneLine(message: string): string {
  return clipped(visible(message), MOST_SAID);
}

/** Text of several lines for a terminal or a page: only its line ends stay as they are. */
export function lines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/** JSON text that is the same document, without a character that a terminal could obey. */
export function safeJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, written);
}

function visible(text: string): string {
  return text.replace(UNSAFE, written);
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function written(character: string): string {
  if (character in SHORT) return SHORT[character];
  let units = '';
  for (let i = 0; i < character.length; i++) {
    units += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`;
  }
  return units;
}

/** The beginning and the end, which says what to do. */
function clipped(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil((2 * (most - 3)) / 3);
  return `${whole(text.slice(0, head))}…${whole(text.slice(head - most + 3))}`;
}

/** Without the half of a character that a cut has left. */
function whole(piece: string): string {
  return piece.replace(/\p{Cs}/gu, '');
}
