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
  const head = chart.subtitle ? HEAD + 20 : HEAD;
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
        `<text class="title" x="12" y="20" font-size="16" font-weight="600" text-anchor="start">${escapeXml(chart.title)}</text>` +
        (chart.subtitle
          ? `<text class="subtitle" x="12" y="40" fill="${INK.muted.light}" text-anchor="start">${escapeXml(chart.subtitle)}</text>`
          : '') +
        `<g transform="translate(0,${head})">${inner}</g></svg>\n`,
    ),
  );
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
