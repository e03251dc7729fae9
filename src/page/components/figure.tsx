import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Chart } from '../../report/charts/chart.js';
import type { ChartPair } from '../../report/charts/narrow.js';
import { inOwnTask } from '../work.js';
import { Button } from './controls.js';
import { save, toPng } from './save.js';
import { type Cells, Table } from './table.js';

interface FigureProps {
  /** Base name of its files. */
  readonly name: string;
  /** Makes the chart; charts.ts is fetched with the first one. It is made again when an input changes. */
  readonly of: (charts: typeof import('../charts.js')) => Chart | ChartPair;
  readonly inputs: readonly unknown[];
  readonly caption: ComponentChildren;
  /** The same figures as a table. */
  readonly table: Cells;
}

/** A chart with its table and files. The chart is an image, so that ids in it cannot become markup. */
export function Figure({ name, of, inputs, caption, table }: FigureProps) {
  const frame = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(0);
  const [shown, setShown] = useState<Shown | undefined>(undefined);
  const images = useRef<readonly string[]>([]);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) =>
      setWidth(Math.max(280, Math.min(900, Math.floor(entry.contentRect.width)))),
    );
    observer.observe(frame.current!);
    return () => {
      observer.disconnect();
      release(images.current);
    };
  }, []);
  useEffect(() => {
    if (width === 0) return undefined;
    let gone = false;
    void import('../charts.js').then(async (charts) => {
      const made = of(charts);
      const drawn = await inOwnTask(() => (gone ? undefined : charts.svgsOf(made, width)));
      if (gone || !drawn) return;
      const urls = drawn.svgs.map((svg) => URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' })));
      // Shown when the images are decoded, so that a chart that is drawn again does not flicker.
      await Promise.all(urls.map((url) => decoded(url)));
      if (gone) return release(urls);
      const before = images.current;
      images.current = urls;
      setTimeout(() => release(before), 1000);
      setShown({ urls, small: drawn.small, chart: drawn.wide });
    });
    return () => {
      gone = true;
    };
  }, [width, ...inputs]);
  const { title, subtitle, description } = shown?.chart ?? {};
  const alt = `${title}. ${description}`;
  const file = async () => (await import('../charts.js')).wideSvg(shown!.chart, width);
  return (
    <figure ref={frame}>
      {shown ? shown.urls.map((url) => <img src={url} alt={alt} key={url} />) : <div class="placeholder" />}
      {/* A chart for a small screen has no subtitle. */}
      <figcaption>
        {shown?.small && subtitle ? `${subtitle} ` : ''}
        {caption}
      </figcaption>
      <details class="behind">
        <summary>Table and files of this chart</summary>
        <Table {...table} />
        {shown && (
          <p class="buttons">
            <Button onClick={async () => save(`${name}.svg`, await file(), 'image/svg+xml')}>Save SVG</Button>
            <Button onClick={async () => save(`${name}.png`, await toPng(await file()))}>Save PNG</Button>
          </p>
        )}
      </details>
    </figure>
  );
}

/** The chart that is shown and its images; `small`: those for small screens. */
interface Shown {
  readonly urls: readonly string[];
  readonly small: boolean;
  readonly chart: Chart;
}

async function decoded(url: string): Promise<void> {
  const image = new Image();
  image.src = url;
  await image.decode().catch(() => undefined);
}

function release(urls: readonly string[]): void {
  for (const url of urls) URL.revokeObjectURL(url);
}
