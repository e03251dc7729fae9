import { useEffect, useRef, useState } from 'preact/hooks';
import type { Chart } from '../charts.js';
import { inTurn } from './in-turn.js';
import { save, toPng } from './save.js';
import { type Cells, Table } from './table.js';

export interface FigureProps {
  /** What files of it are called. */
  readonly name: string;
  readonly chart: Chart;
  readonly caption: string;
  /** The same figures for those who would rather read them. */
  readonly table: Cells;
}

/** A chart as a picture, which no id can break out of, with its table, and the files to take away. */
export function Figure({ name, chart, caption, table }: FigureProps) {
  const frame = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(0);
  const [picture, setPicture] = useState<{ readonly svg: string; readonly url: string } | undefined>(
    undefined,
  );
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) =>
      setWidth(Math.max(280, Math.min(900, Math.floor(entry.contentRect.width)))),
    );
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (width === 0) return undefined;
    let gone = false;
    void import('../charts.js').then(async ({ svgOf }) => {
      const svg = await inTurn(() => (gone ? '' : svgOf(chart, width)));
      if (gone) return;
      const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
      // Shown only once it is there, so that a chart that is drawn again does not flicker.
      const image = new Image();
      image.src = url;
      await image.decode().catch(() => undefined);
      if (gone) return URL.revokeObjectURL(url);
      setPicture((before) => {
        if (before) setTimeout(() => URL.revokeObjectURL(before.url), 1000);
        return { svg, url };
      });
    });
    return () => {
      gone = true;
    };
  }, [chart, width]);
  const alt = `${chart.title}. ${chart.description}`;
  return (
    <figure ref={frame}>
      {picture ? <img src={picture.url} alt={alt} /> : <div class="placeholder" />}
      <figcaption>{caption}</figcaption>
      <details class="behind">
        <summary>Figures and files of this chart</summary>
        <Table {...table} />
        {picture && (
          <p class="buttons">
            <button type="button" onClick={() => save(`${name}.svg`, picture.svg, 'image/svg+xml')}>
              Save SVG
            </button>
            <button type="button" onClick={async () => save(`${name}.png`, await toPng(picture.svg))}>
              Save PNG
            </button>
          </p>
        )}
      </details>
    </figure>
  );
}
