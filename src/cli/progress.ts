// Draws progress events on stderr: a bar that redraws itself on a terminal, a plain line every few seconds otherwise.

import type { Progress } from '../progress.js';
import { lines, oneLine } from '../text/untrusted.js';

interface ProgressStream extends Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>> {
  write(text: string): unknown;
}

interface ProgressViewOptions {
  readonly quiet?: boolean | undefined;
  /** Milliseconds; replaced in tests. */
  readonly now?: (() => number) | undefined;
}

const REDRAW_EVERY = 100;
const LINE_EVERY = 3000;
const BAR_WIDTH = 24;
const CLEAR_LINE = '\r\u001b[2K';

export function createProgressView(stream: ProgressStream, options: ProgressViewOptions = {}) {
  const now = options.now ?? (() => performance.now());
  const { TERM, NO_COLOR } = process.env;
  const terminal = stream.isTTY === true && TERM !== 'dumb' && !NO_COLOR;
  let stage = '';
  let stageStart = 0;
  let firstDone = 0;
  let lastDrawn = Number.NEGATIVE_INFINITY;
  let drawn = false;

  /** Removes the bar; nothing is drawn until the next report. */
  function clear(): void {
    if (drawn) stream.write(CLEAR_LINE);
    drawn = false;
  }

  return {
    clear,
    /** A line of its own, above the bar. */
    note(message: string): void {
      if (options.quiet) return;
      clear();
      stream.write(`${lines(message)}\n`);
    },
    report(progress: Progress): void {
      if (options.quiet) return;
      const time = now();
      if (progress.stage !== stage) {
        stage = progress.stage;
        stageStart = time;
        firstDone = progress.done;
        // A terminal shows a new stage immediately; a log gets a line only for a stage that lasts.
        lastDrawn = terminal ? Number.NEGATIVE_INFINITY : time;
      }
      if (time - lastDrawn < (terminal ? REDRAW_EVERY : LINE_EVERY)) return;
      lastDrawn = time;
      const line = oneLine(describeProgress(progress, (time - stageStart) / 1000, firstDone, terminal));
      if (terminal) {
        const width = Math.max(20, (stream.columns || 80) - 1);
        stream.write(`${CLEAR_LINE}${line.slice(0, width)}`);
        drawn = true;
      } else {
        stream.write(`${line}\n`);
      }
    },
  };
}

/** One line: stage, bar (on a terminal), share, rate, time left, note. */
export function describeProgress(
  progress: Progress,
  seconds: number,
  firstDone: number,
  bar: boolean,
): string {
  const { stage, done, total, expected = total, unit, note, overall } = progress;
  const parts = [stage];
  if (overall)
    parts.unshift(`step ${overall.step} of ${overall.steps}, ${shortTime(overall.seconds)} so far`);
  const rate = seconds > 0.2 ? (done - firstDone) / seconds : 0;
  if (total !== undefined && total > 0) {
    const share = Math.min(1, done / total);
    if (bar) {
      const full = Math.round(share * BAR_WIDTH);
      parts.push(`${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)}`);
    }
    parts.push(
      `${Math.floor(share * 100)} %`,
      `${shortNumber(done)} of ${shortNumber(total)}${unit ? ` ${unit}` : ''}`,
    );
  } else {
    parts.push(`${shortNumber(done)}${unit ? ` ${unit}` : ''}`);
  }
  if (rate > 0) {
    parts.push(`${shortNumber(rate)}${unit ? ` ${unit}` : ''}/s`);
    if (expected !== undefined && done < expected) parts.push(`${shortTime((expected - done) / rate)} left`);
  }
  if (note) parts.push(note);
  return parts.join('  ');
}

/** 1234567 → '1.23 M'; small numbers stay whole, below ten they keep two digits. */
export function shortNumber(value: number): string {
  for (const [size, suffix] of [
    [1e9, ' G'],
    [1e6, ' M'],
    [1e4, ' k'],
  ] as const) {
    if (value >= size) {
      const scaled = value / (size === 1e4 ? 1e3 : size);
      return `${scaled.toPrecision(3)}${suffix}`;
    }
  }
  if (Number.isInteger(value)) return String(value);
  return value >= 10 ? value.toFixed(0) : value.toFixed(2);
}

/** 75 → '1 min 15 s'. */
export function shortTime(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
