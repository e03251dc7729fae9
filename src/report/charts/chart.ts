// Data → SVG text, drawn by Observable Plot on the given document: the browser's, or our own (svg-document.ts).
// The SVG is self-contained: title, description, fonts, and colours for light and dark surroundings.

import * as Plot from '@observablehq/plot';
import { power } from '../../text/numbers.js';
import { lines } from '../../text/untrusted.js';
import { escapeXml, INK } from './ink.js';

/** A chart before it is drawn: its texts, and the options for Plot. */
export interface Chart {
  readonly title: string;
  /** One line under the title: what to look for. */
  readonly subtitle?: string | undefined;
  /** For readers who cannot see the picture. */
  readonly description: string;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  /** The options for Observable Plot's `plot`. Plot's own types do not compile in strict mode. */
  readonly plot: object;
}

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const CLASS = 'graphex-chart';
const HEAD = 30;
/** Room below the last line, for letters such as p and g. */
const FOOT = 4;
/** Where the words above a chart begin. */
const LEFT = 12;

/**
 * A chart as self-contained SVG text; the same data give the same bytes. In a page, pass its `document`;
 * elsewhere, `await chartDocument()`.
 */
export function drawChart(document: Document, chart: Chart): string {
  const { width = 560, height = 360 } = chart;
  const svg = Plot.plot({
    document,
    width,
    height,
    className: CLASS,
    marginTop: 30,
    marginLeft: 66,
    marginRight: 24,
    marginBottom: 46,
    style: { fontSize: '14px', fontFamily: FONT, overflow: 'visible' },
    ...chart.plot,
  } as Plot.PlotOptions) as unknown as SVGSVGElement;
  const title = wrapped(chart.title, width, 9.3);
  const subtitle = wrapped(chart.subtitle ?? '', width, 7.6);
  const head = HEAD + 20 * (title.length - 1 + subtitle.length);
  const row = (name: string, text: string, at: number, look: string) =>
    `<text class="${name}" x="${LEFT}" y="${20 * (at + 1)}" ${look} text-anchor="start">${escapeXml(text)}</text>`;
  svg.querySelector('style')?.remove();
  // A group has no role that could have a name; the whole chart has one.
  const inner = svg.innerHTML.replace(/<g aria-label="[^"]*"/g, '<g');
  // Plot writes labels itself, so the whole text is checked again.
  return tidy(
    lines(
      `<svg xmlns="http://www.w3.org/2000/svg" class="${CLASS}" role="img" width="${width}" height="${height + head + FOOT}" ` +
        `viewBox="0 0 ${width} ${height + head + FOOT}" font-family='${FONT}' font-size="14" fill="currentColor" ` +
        `color="${INK.text.light}" text-anchor="middle">` +
        `<title>${escapeXml(chart.title)}</title><desc>${escapeXml(chart.description)}</desc>` +
        `<style>${STYLE}</style>` +
        title.map((text, at) => row('title', text, at, 'font-size="16" font-weight="600"')).join('') +
        subtitle
          .map((text, at) => row('subtitle', text, title.length + at, `fill="${INK.muted.light}"`))
          .join('') +
        `<g transform="translate(0,${head})">${inner}</g></svg>\n`,
    ),
  );
}

/** A text in rows that fit `width` pixels, with `letter` pixels for each character. An empty text has no rows. */
function wrapped(text: string, width: number, letter: number): string[] {
  const most = (width - 18) / letter;
  const rows: string[] = [];
  for (const word of text.split(' ')) {
    const row = rows.at(-1);
    if (row !== undefined && row.length + 1 + word.length <= most) rows[rows.length - 1] = `${row} ${word}`;
    else if (word !== '') rows.push(word);
  }
  return rows;
}

/** The height of a row of a legend. */
const ROW = 18;

/**
 * Names in their colours above the frame, in as many rows as they need; `height` is their part of the top margin. They start
 * at the left edge of the chart and not at the frame, which long labels can make narrow. Marks are typed as objects, because
 * Plot's own types do not compile in strict mode.
 */
export function legend(
  names: readonly { readonly words: string; readonly ink: string }[],
  { width, marginLeft }: { readonly width: number; readonly marginLeft: number },
): { readonly marks: readonly object[]; readonly height: number } {
  let x = LEFT;
  let row = 0;
  const places = names.map((name) => {
    const length = 8.4 * name.words.length;
    if (x > LEFT && x + length > width) {
      x = LEFT;
      row++;
    }
    const place = { ...name, row, dx: x - marginLeft };
    x += length + 18;
    return place;
  });
  const marks = places.map(({ words, ink, dx, ...place }) =>
    Plot.text([words], {
      facet: 'super',
      frameAnchor: 'top-left',
      textAnchor: 'start',
      lineAnchor: 'bottom',
      dx,
      dy: -12 - ROW * (row - place.row),
      fill: ink,
      fontWeight: 600,
    } as Plot.TextOptions),
  );
  return { marks, height: ROW * (row + 1) };
}

/** Axes without arrows; the arrow of a label says where it leads. */
export const across = (label: string, more: object = {}) => ({
  label: `${label} →`,
  labelAnchor: 'right',
  labelArrow: 'none',
  ...more,
});
export const upward = (label: string, more: object = {}) => ({
  label: `↑ ${label}`,
  labelArrow: 'none',
  grid: true,
  ...more,
});

/** A logarithmic axis from powers of ten to powers of ten. */
export const logarithmic = (domain: readonly [number, number], low: number, high: number) => ({
  type: 'log',
  domain,
  ticks: powersOfTen(low, high),
  tickFormat: power,
});

/** Where the name of a curve stands: in a corner of the frame, at a distance from it, below as many others as `row`. */
interface CornerPlace {
  readonly frameAnchor: 'top-left' | 'top-right' | 'bottom-left';
  readonly dx: number;
  readonly dy: number;
  readonly row: number;
}

export function cornerName(text: string, fill: string, { dy, row, ...corner }: CornerPlace): object {
  return Plot.text([text], { ...corner, dy: dy + ROW * row, fill, fontWeight: 600 });
}

/** Dark colours replace light ones if the reader prefers dark. The attributes stay for viewers without CSS. */
const STYLE = [
  `.${CLASS}{max-width:100%;height:auto}`,
  `.${CLASS} text{white-space:pre}`,
  `@media(prefers-color-scheme:dark){.${CLASS}{color:${INK.text.dark}}`,
  ...Object.values(INK).flatMap(({ light, dark }) => [
    `.${CLASS} [fill="${light}"]{fill:${dark}}`,
    `.${CLASS} [stroke="${light}"]{stroke:${dark}}`,
  ]),
  '}',
].join('');

/** Coordinates to a hundredth of a pixel: smaller files, and snapshots that do not depend on the last digits. */
function tidy(svg: string): string {
  return svg.replace(
    / (d|transform|x|y|x1|x2|y1|y2|cx|cy|r|width|height)="([^"]*)"/g,
    (_all, name, value) => {
      const rounded = (value as string).replace(/-?\d{1,21}\.\d{3,}(e-?\d+)?/g, (n) =>
        String(Number(Number(n).toFixed(2))),
      );
      return ` ${name}="${rounded}"`;
    },
  );
}

/** The ticks of a log axis: only powers of ten, since more labels would overlap. */
function powersOfTen(low: number, high: number): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.max(first, Math.floor(Math.log10(high) + 1e-9));
  return Array.from({ length: last - first + 1 }, (_, i) => Number(`1e${first + i}`));
}
