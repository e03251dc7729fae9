// Makes text from outside (ids, headers, file names) safe to show. A control character can move a cursor, set a title or fill a clipboard;
// a bidi mark can reverse a line; a line break can forge a line of output. All are shown as escapes, such as \u001b, and long texts are
// cut.

/** Bidi marks, line and paragraph separators, invisible characters (but the joiners, which scripts and emoji need), tags. */
const UNSEEN = String.raw`\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}`;
/** … with C0, DEL, C1 and lone surrogates: characters that a terminal, an editor or a page may interpret. */
const UNSAFE = new RegExp(String.raw`[\p{Cc}\p{Cs}${UNSEEN}]`, 'gu');
/** Those of them that JSON.stringify does not escape. */
const UNSAFE_IN_JSON = new RegExp(String.raw`[\x7f-\x9f${UNSEEN}]`, 'gu');

/** Longest id or header in a sentence; longer ones lose their middle. */
const MOST_SHOWN = 80;
/** Longest message. */
const MOST_SAID = 2000;

/** An id, a header or a file name as one readable word: invisible characters are escaped, long texts are cut. */
export function shown(text: string | number, most = MOST_SHOWN): string {
  return clipped(visible(String(text)), most);
}

/** The first names of a list, as `shown` writes them: 'a, b, …'. */
export function firstShown(names: readonly (string | number)[], most = 5): string {
  const first = names.slice(0, most).map((name) => shown(name));
  return `${first.join(', ')}${names.length > most ? ', …' : ''}`;
}

/** A message of one line, such as an error or a warning; line breaks are escaped too. */
export function oneLine(message: string): string {
  return clipped(visible(message), MOST_SAID);
}

/** Text of several lines for a terminal or a page; everything but line breaks is escaped. */
export function lines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/** The same JSON document without characters that a terminal would interpret. */
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

/** Keeps the beginning and the end, because the end says what to do. */
function clipped(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil((2 * (most - 3)) / 3);
  return `${whole(text.slice(0, head))}…${whole(text.slice(head - most + 3))}`;
}

/** Removes half a character that the cut has left. */
function whole(piece: string): string {
  return piece.replace(/\p{Cs}/gu, '');
}
