// HTML that cannot be injected into: what goes between the braces of html`…` is escaped unless it is Html already.

import { unbroken } from '../../text/numbers.js';
import { type Absent, present } from '../../text/phrases.js';
import { escapeXml } from '../charts/ink.js';

export class Html {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
}

/** What goes between the braces; what is absent leaves nothing, so a condition can stand before a text. */
export type Content = string | number | Html | Absent | readonly Content[];

export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Html {
  let text = unbroken(strings[0]);
  for (let i = 0; i < values.length; i++) {
    text += render(values[i], OPENS_CODE.test(text));
    // A unit may follow a number that is a value: the digit before decides.
    text = text.slice(0, -1) + unbroken(text.slice(-1) + strings[i + 1]);
  }
  return new Html(text);
}

/** What is inside is copied, so its spaces stay. */
const OPENS_CODE = /<(?:code|pre)>$/;

/** Html comes as it is: it may be a script or data. */
function render(value: Content, isCode = false): string {
  if (value === undefined || value === null || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map((one) => render(one, isCode)).join('');
  const text = escapeXml(String(value));
  return isCode ? text : unbroken(text);
}

/** A command to copy. A line may break between its words only, not after the hyphen of an option. */
export function commandLine(text: string): Html {
  const words = text.split(' ').map((word) => html`<span>${word}</span>`);
  return html`<code class="command">${words.flatMap((word, at) => (at > 0 ? [' ', word] : [word]))}</code>`;
}

/** An SVG that drawChart made, as a figure with a caption. */
export function figure(svg: string, caption: Content): Html {
  return html`<figure>${new Html(svg)}<figcaption>${caption}</figcaption></figure>`;
}

export interface Column {
  readonly label: Content;
  /** Numbers are set right, in figures of one width. */
  readonly numeric?: boolean;
}

export function numbers(...labels: readonly Content[]): Column[] {
  return labels.map((label) => ({ label, numeric: true }));
}

export function table(
  columns: readonly Column[],
  rows: readonly (readonly Content[])[],
  caption?: Content,
): Html {
  const kind = (column: Column | undefined) => column?.numeric === true && new Html(' class="number"');
  return html`<div class="scroll"><table>${caption !== undefined && html`<caption>${caption}</caption>`}
<thead><tr>${columns.map((c) => html`<th scope="col"${kind(c)}>${c.label}</th>`)}</tr></thead>
<tbody>${rows.map(
    (row) => html`<tr>${row.map((cell, i) =>
      i === 0
        ? html`<th scope="row"${kind(columns[i])}>${cell}</th>`
        : html`<td${kind(columns[i])}>${cell}</td>`,
    )}</tr>
`,
  )}</tbody></table></div>`;
}

/** A row of figures with what they count. */
export function facts(
  list: readonly ({ readonly value: Content; readonly label: Content } | Absent)[],
): Html {
  return html`<dl class="facts">${present(list).map((f) => html`<div><dt>${f.label}</dt><dd>${f.value}</dd></div>`)}</dl>`;
}

/** Something a click opens. */
export function fold(summary: Content, body: Content): Html {
  return html`<details><summary>${summary}</summary><div>${body}</div></details>`;
}
