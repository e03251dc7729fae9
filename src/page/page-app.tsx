import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { machineWords } from '../report/words/page.js';
import { Button } from './components/controls.js';
import { lazy } from './components/lazy.js';
import { Problem, Working } from './components/working.js';
import { go, machine, model, reachable, STEPS, type StepName, step } from './state.js';
import { Start } from './steps/start-step.js';

const VIEWS: Readonly<Record<StepName, readonly [title: string, View: () => ComponentChildren]>> = {
  start: ['Data', Start],
  columns: ['Columns', lazy(() => import('./steps/columns-step.js'))],
  verdict: ['Is it sparse?', lazy(() => import('./steps/verdict-step.js'))],
  fit: ['Fit', lazy(() => import('./steps/fit-step.js'))],
  predict: ['Does it predict?', lazy(() => import('./steps/predict-step.js'))],
  explore: ['Explore', lazy(() => import('./steps/explore-step.js'))],
  recommend: ['Recommend', lazy(() => import('./steps/recommend-step.js'))],
  forecast: ['Growth', lazy(() => import('./steps/forecast-step.js'))],
  audit: ['Is a split fair?', lazy(() => import('./steps/audit-step.js'))],
  report: ['Save', lazy(() => import('./steps/report-step.js'))],
};

export function App() {
  const now = step.value;
  const [title, View] = VIEWS[now];
  const steps = useRef<HTMLElement>(null);
  const content = useRef<HTMLElement>(null);
  const before = useRef(now);
  useEffect(() => {
    document.title = now === 'start' ? 'graphex' : `${title} · graphex`;
    if (before.current === now) return;
    before.current = now;
    // The button that was pressed is gone, so the keyboard focus moves to the new content.
    const { activeElement } = document;
    if (!steps.current!.contains(activeElement)) content.current!.focus({ preventScroll: true });
  }, [now]);
  useEffect(() => {
    // On a phone only some steps are visible: the list scrolls to the current one.
    const list = steps.current!;
    const observer = new ResizeObserver(() => {
      const current = list.querySelector<HTMLElement>('[aria-current]')!;
      list.scrollLeft = current.offsetLeft - (list.clientWidth - current.offsetWidth) / 2;
    });
    observer.observe(list);
    return () => observer.disconnect();
  }, [now]);
  return (
    <>
      {/* Not a link: its address would be taken for one of another step. */}
      <Button class="skip" onClick={() => content.current!.focus()}>
        Skip to the content
      </Button>
      <header class="top">
        <Button class="plain mark" onClick={() => go('start')}>
          graphex
        </Button>
        <Badge />
      </header>
      <nav aria-label="Steps" class="steps" ref={steps}>
        <ol>
          {STEPS.map((name) => (
            <li key={name}>
              <Button
                disabled={!reachable.value[name]}
                aria-current={name === now ? 'step' : undefined}
                onClick={() => go(name)}
              >
                {VIEWS[name][0]}
              </Button>
            </li>
          ))}
        </ol>
      </nav>
      <main id="main" tabIndex={-1} class={`step-${now}`} ref={content}>
        <View />
        <Problem />
        <Working />
      </main>
      <footer>
        {model.value?.served
          ? 'The model is on the server that sent this page: your clicks are sent there, and nowhere else.'
          : 'Everything is computed in this tab, by the same code as the command line. Nothing is sent anywhere.'}{' '}
        <a href="./manual/index.html">The manual</a>
      </footer>
    </>
  );
}

function Badge() {
  const { badge, why } = machineWords({
    isolated: window.crossOriginIsolated,
    cores: navigator.hardwareConcurrency || 1,
    gpu: machine.value?.gpu,
  });
  return (
    <details class="badge">
      <summary aria-label={`This tab computes on ${badge}. Why?`}>{badge}</summary>
      <p>{why}</p>
    </details>
  );
}
