import type { Export } from '../protocol.js';
import { perform } from '../work.js';

/** The formats of tables, as buttons name them. */
export const FORMAT_NAMES = { csv: 'CSV', parquet: 'Parquet', jsonl: 'JSON lines' } as const;

/** Has the session make a file, and saves it. The name of the file; undefined if it was cancelled or failed. */
export async function saveExport(title: string, asked: Export): Promise<string | undefined> {
  const file = await perform(title, 'export', asked);
  if (file) save(file.name, file.blob);
  return file?.name;
}

export function save(name: string, content: Blob | string, type = 'text/plain'): void {
  const blob = typeof content === 'string' ? new Blob([content], { type }) : content;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** An SVG as a PNG at twice its size, on the background of the page. */
export async function toPng(svg: string): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = 2 * image.width;
    canvas.height = 2 * image.height;
    const context = canvas.getContext('2d')!;
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob(
        (blob) => (blob ? resolve(blob) : reject(new Error('the browser could not make a PNG'))),
        'image/png',
      ),
    );
  } finally {
    URL.revokeObjectURL(url);
  }
}
