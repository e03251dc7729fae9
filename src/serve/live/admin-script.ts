// The script of the page for operators. The server sends the text of this function, so it uses nothing from outside.

import type { z } from '@hono/zod-openapi';
import type { StatusAnswer } from './refit-schema.js';

type Shown = z.infer<typeof StatusAnswer>;
type Model = Shown['generations'][number];

export function adminScript(): void {
  const EVERY = 2000;
  const SVG = 'http://www.w3.org/2000/svg';
  const at = (id: string) => document.getElementById(id) as HTMLElement;
  const input = at('key') as HTMLInputElement;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const say = (text: string) => {
    at('message').textContent = text;
  };

  async function ask(path: string, method = 'GET'): Promise<unknown> {
    const response = await fetch(path, {
      method,
      headers: {
        ...(input.value !== '' && { authorization: `Bearer ${input.value}` }),
        ...(method === 'POST' && { 'content-type': 'application/json' }),
      },
      ...(method === 'POST' && { body: '{}' }),
    });
    const answer = (await response.json()) as { detail?: string };
    if (response.ok) return answer;
    const needsKey = response.status === 401 || response.status === 403;
    if (needsKey) at('enter').hidden = false;
    throw new Error(
      (needsKey && wrongKey(response.status)) || (answer.detail ?? `status ${response.status}`),
    );
  }

  function wrongKey(status: number): string {
    if (status === 403) return 'This key is not marked admin.';
    return input.value === '' ? 'Enter an admin key.' : 'The server does not know this key.';
  }

  const grouped = (value: number) => value.toLocaleString('en');
  const signed = (value: number) => value.toFixed(4).replace('-', '−');

  function age(since: string): string {
    const seconds = Math.max(0, (Date.now() - Date.parse(since)) / 1000);
    if (seconds < 120) return `${Math.round(seconds)} s`;
    if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
    return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
  }

  function element(name: string, attributes: Record<string, string | number>, text?: string): SVGElement {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    if (text !== undefined) made.textContent = text;
    return made;
  }

  /** Events of each minute of the last hour. */
  function drawMinutes(id: string, values: readonly number[], what: string): void {
    const top = Math.max(0, ...values);
    const most = Math.max(1, top);
    const bars = values.map((value, i) => {
      const height = (60 * value) / most;
      const bar = element('rect', { x: 10 * i + 1, y: 60 - height, width: 8, height, class: 'bar' });
      bar.append(element('title', {}, `${grouped(value)} ${what}`));
      return bar;
    });
    at(id).replaceChildren(...bars, element('line', { x1: 0, x2: 600, y1: 60, y2: 60, class: 'axis' }));
    at(`${id}-most`).textContent = grouped(top);
  }

  const differenceOf = (c: NonNullable<Model['comparison']>) =>
    `${signed(c.difference)} (${signed(c.low)} to ${signed(c.high)})`;

  /** Differences of the last refits with their intervals, the newest at the right. */
  function drawComparisons(models: readonly Model[]): void {
    const compared = models
      .filter((one) => one.comparison)
      .slice(0, 30)
      .reverse();
    const bound = Math.max(
      1e-6,
      ...compared.flatMap(({ comparison: c }) => (c ? [Math.abs(c.low), Math.abs(c.high)] : [])),
    );
    const y = (value: number) => 70 - (60 * value) / bound;
    const marks = compared.flatMap(({ name, accepted, comparison: c }, i) => {
      if (!c) return [];
      const x = (600 * (i + 0.5)) / compared.length;
      const kind = accepted ? 'accepted' : 'refused';
      // Short thick lines stay dots, however wide the chart is.
      const mark = { x1: x, x2: x, 'stroke-linecap': 'round', class: kind };
      const dot = element('line', { ...mark, y1: y(c.difference), y2: y(c.difference), 'stroke-width': 9 });
      dot.append(element('title', {}, `${name}: ${differenceOf(c)}, ${grouped(c.users)} users`));
      return [element('line', { ...mark, y1: y(c.low), y2: y(c.high), 'stroke-width': 2 }), dot];
    });
    at('comparisons').replaceChildren(
      element('line', { x1: 0, x2: 600, y1: 70, y2: 70, class: 'axis' }),
      ...marks,
    );
    at('comparisons-note').textContent =
      compared.length === 0
        ? 'No comparison yet.'
        : `Each dot is a refit, the newest at the right. Above the line it is better than the model before it. Lines are 95 % intervals of the difference in nDCG@20, between −${bound.toFixed(4)} and ${bound.toFixed(4)}. Green: it took over; red: it was kept aside.`;
  }

  function drawModels({ generations, files, model }: Shown): void {
    const rows = [...new Set([...generations.map(({ name }) => name), ...files])]
      .filter((name) => files.includes(name))
      .map((name) => {
        const made = generations.find((one) => one.name === name);
        const row = document.createElement('tr');
        const cells = [
          name,
          made ? age(made.time) : '',
          made?.comparison ? differenceOf(made.comparison) : '',
          made ? (made.accepted ? 'took over' : 'kept aside') : '',
        ];
        for (const text of cells)
          row.append(Object.assign(document.createElement('td'), { textContent: text }));
        const last = document.createElement('td');
        if (name === model?.file) last.textContent = 'answers now';
        else {
          const button = Object.assign(document.createElement('button'), {
            textContent: 'Use this one',
          });
          button.addEventListener('click', () =>
            act(`/v1/models/${encodeURIComponent(name)}/activate`, `${name} answers now.`),
          );
          last.append(button);
        }
        row.append(last);
        return row;
      });
    at('models').replaceChildren(...rows);
  }

  function show(status: Shown): void {
    const { model, queue, activity, store, refit, generations } = status;
    at('model').textContent = model ? `${model.file} (${model.hash.slice(0, 8)})` : 'none';
    at('age').textContent = model ? age(model.loaded) : '';
    at('queue').textContent = `${queue.waiting} waiting, ${queue.working} computing`;
    at('latency').textContent =
      activity.p50 === undefined
        ? 'no answers lately'
        : `p50 ${activity.p50.toFixed(1)} ms, p99 ${(activity.p99 ?? 0).toFixed(1)} ms`;
    at('store').textContent = store
      ? (store.failure ??
        `${grouped(store.events)} events since the start, ${grouped(store.waiting)} waiting for the disk`)
      : 'no store';
    at('refit').textContent = !refit
      ? 'no data to refit'
      : refit.running
        ? refit.progress
          ? `running: ${refit.progress}`
          : 'running'
        : refit.next
          ? `next ${new Date(refit.next).toLocaleString()}`
          : 'when asked';
    at('last').textContent = refit?.last
      ? `${age(refit.last.time)} ago: ${refit.last.detail}`
      : 'none since the start';
    (at('refit-now') as HTMLButtonElement).disabled = !refit || refit.running;
    drawMinutes('events', activity.eventsPerMinute, 'events');
    drawMinutes('answers', activity.answersPerMinute, 'answers');
    drawComparisons(generations);
    drawModels(status);
    at('panel').hidden = false;
  }

  async function refresh(): Promise<void> {
    clearTimeout(timer);
    try {
      show((await ask('/v1/status')) as Shown);
      timer = setTimeout(() => void refresh(), EVERY);
    } catch (error) {
      at('panel').hidden = true;
      say(error instanceof Error ? error.message : String(error));
    }
  }

  async function act(path: string, done: string): Promise<void> {
    try {
      await ask(path, 'POST');
      say(done);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
    await refresh();
  }

  at('enter').addEventListener('submit', (event) => {
    event.preventDefault();
    say('');
    void refresh();
  });
  at('refit-now').addEventListener('click', () => void act('/v1/refit', 'A refit has begun.'));
  void refresh();
}
