import { useEffect, useState } from 'preact/hooks';
import type { Progress } from '../../progress.js';
import { aboutTime } from '../../report/words/page.js';
import { capital } from '../../text/phrases.js';
import { oneLine } from '../../text/untrusted.js';
import { problemHere } from '../state.js';
import { secondsLeft, work } from '../work.js';
import { Button } from './controls.js';
import { useFocusOfWork } from './focus.js';

/** The work in progress: stage, bar, remaining time, and a button to cancel it. */
export function Working() {
  const now = work.value;
  const place = useFocusOfWork(now !== undefined);
  const [, tick] = useState(0);
  useEffect(() => {
    if (!now) return undefined;
    const timer = setInterval(() => tick((t) => t + 1), 500);
    return () => clearInterval(timer);
  }, [now === undefined]);
  if (!now) return null;
  const { progress } = now;
  const left = secondsLeft(now);
  const seconds = Math.floor((performance.now() - now.began) / 1000);
  return (
    <section class="working" aria-label="Work in progress" tabIndex={-1} ref={place}>
      <div>
        <p role="status">
          <b>{now.title}</b>
          {progress && now.title !== `${capital(progress.stage)}.` ? ` ${capital(progress.stage)}.` : ''}
        </p>
        <progress max={1} {...fraction(progress)} aria-label={now.title} />
        <p class="quiet">
          {left === undefined
            ? seconds > 1
              ? `${seconds} s`
              : 'A moment'
            : `${capital(aboutTime(left))} left${now.expected === undefined ? ' of this stage' : ''}`}
          {progress?.note ? ` · ${oneLine(progress.note)}` : ''}
        </p>
      </div>
      <Button onClick={() => now.cancel()}>Cancel</Button>
    </section>
  );
}

function fraction(progress: Progress | undefined) {
  const total = progress?.expected ?? progress?.total;
  return progress && total ? { value: Math.min(1, progress.done / total) } : {};
}

export function Problem() {
  const said = problemHere.value;
  if (said === undefined) return null;
  return (
    <p class="problem" role="alert">
      {oneLine(said)}
    </p>
  );
}
