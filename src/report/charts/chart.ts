// Data → SVG text, by Observable Plot on whatever document it is given: the browser's own, or happy-dom's elsewhere.
// The SVG stands alone: its own title, description, fonts, and colours that follow a light or dark surrounding.

import * as Plot from '@observablehq/plot';
import { lines } from '../../text/untrusted.js';
import { escapeXml, INK } from './ink.js';

/** A chart before it is drawn: words around it, and what Plot draws. */
export interface Chart {
  readonly title: string;
  /** One line under the title: what to look for. */
  readonly subtitle?: string | undefined;
  /** For those who cannot see the picture. */
  readonly description: string;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  /** What Observable Plot is to draw: the options of its `plot`. Its own types do not stand a strict compiler. */
  readonly plot: object;
}

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const CLASS = 'graphex-chart';
const HEAD = 30;
/** Where the words above a chart begin. */
const LEFT = 12;

/**
 * A chart as SVG text that stands alone; the same data give the same text, byte for byte. In a page give its `document`,
 * elsewhere `await chartDocument()`.
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
  const inner = svg.innerHTML;
  // Plot writes its own labels, so the whole is looked at once more.
  return tidy(
    lines(
      `<svg xmlns="http://www.w3.org/2000/svg" class="${CLASS}" role="img" width="${width}" height="${height + head}" ` +
        `viewBox="0 0 ${width} ${height + head}" font-family='${FONT}' font-size="14" fill="currentColor" ` +
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

/** A text in rows that fit a chart of a width, where a letter takes so many pixels; none of no text. */
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
 * Names in their colours above the whole frame, from the chart's left, in as many rows as they need; `height` is what they
 * take of the top margin. They do not begin at the frame: labels of any length beside it may leave it narrow. Marks are objects here, as
 * Plot's own types do not stand a strict compiler.
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
      ...{ facet: 'super', frameAnchor: 'top-left', textAnchor: 'start', lineAnchor: 'bottom' },
      ...{ dx, dy: -12 - ROW * (row - place.row), fill: ink, fontWeight: 600 },
    } as Plot.TextOptions),
  );
  return { marks, height: ROW * (row + 1) };
}

/** Dark colours replace light ones where the reader prefers dark; attributes stay for viewers that know no CSS. */
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

/** Coordinates to a hundredth of a pixel: smaller files, and snapshots that no last digit disturbs. */
function tidy(svg: string): string {
  return svg.replace(
    / (d|transform|x|y|x1|x2|y1|y2|cx|cy|r|width|height)="([^"]*)"/g,
    (_all, name, value) => {
      const rounded = (value as string).replace(/-?\d+\.\d{3,}(e-?\d+)?/g, (n) =>
        String(Number(Number(n).toFixed(2))),
      );
      return ` ${name}="${rounded}"`;
    },
  );
}

/** The ticks of a log axis: more labels than these are a wall of digits. */
export function powersOfTen(low: number, high: number): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.max(first, Math.floor(Math.log10(high) + 1e-9));
  return Array.from({ length: last - first + 1 }, (_, i) => Number(`1e${first + i}`));
}
