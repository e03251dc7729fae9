// The script of the page for operators. The server sends the text of this function, so it uses nothing from outside.

interface Shown {
  readonly model: { readonly file: string; readonly hash: string; readonly loaded: string } | null;
  readonly queue: { readonly waiting: number; readonly working: number };
  readonly activity: {
    readonly eventsPerMinute: readonly number[];
    readonly answersPerMinute: readonly number[];
    readonly p50?: number;
    readonly p99?: number;
  };
  readonly store?: { readonly events: number; readonly waiting: number; readonly failure?: string };
  readonly refit?: {
    readonly running: boolean;
    readonly progress?: string;
    readonly next?: string;
    readonly last?: { readonly time: string; readonly outcome: string; readonly detail: string };
  };
  readonly generations: readonly Model[];
  readonly files: readonly string[];
}

interface Model {
  readonly name: string;
  readonly time: string;
  readonly accepted: boolean;
  readonly comparison?: {
    readonly users: number;
    readonly difference: number;
    readonly low: number;
    readonly high: number;
  };
}

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
    if (!response.ok) throw new Error(answer.detail ?? `status ${response.status}`);
    return answer;
  }

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
    const most = Math.max(1, ...values);
    const bars = values.map((value, i) => {
      const height = (60 * value) / most;
      const bar = element('rect', { x: 10 * i + 1, y: 60 - height, width: 8, height, class: 'bar' });
      bar.append(element('title', {}, `${value} ${what}`));
      return bar;
    });
    at(id).replaceChildren(...bars, element('line', { x1: 0, x2: 600, y1: 60, y2: 60, class: 'axis' }));
    at(`${id}-most`).textContent = `${most}`;
  }

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
      const x = 600 - 20 * (compared.length - i) + 10;
      const kind = accepted ? 'accepted' : 'refused';
      const mark = element('circle', { cx: x, cy: y(c.difference), r: 4, class: kind });
      mark.append(
        element(
          'title',
          {},
          `${name}: ${c.difference.toFixed(4)} (${c.low.toFixed(4)} to ${c.high.toFixed(4)}), ${c.users} users`,
        ),
      );
      return [element('line', { x1: x, x2: x, y1: y(c.low), y2: y(c.high), class: kind }), mark];
    });
    at('comparisons').replaceChildren(
      element('line', { x1: 0, x2: 600, y1: 70, y2: 70, class: 'axis' }),
      ...marks,
    );
    at('comparisons-note').textContent =
      compared.length === 0
        ? 'No comparison yet.'
        : `nDCG@20 of the new model less that of the model before it; the lines are 95 % intervals, up to ${bound.toFixed(4)}.`;
  }

  function drawModels({ generations, files, model }: Shown): void {
    const known = new Set(files);
    const names = [
      ...generations.map(({ name }) => name),
      ...files.filter((file) => !generations.some(({ name }) => name === file)),
    ];
    const rows = names
      .filter((name) => known.has(name))
      .map((name) => {
        const made = generations.find((one) => one.name === name);
        const row = document.createElement('tr');
        const cells = [
          name,
          made ? age(made.time) : '',
          made ? (made.accepted ? 'took over' : 'kept aside') : '',
        ];
        for (const text of cells)
          row.append(Object.assign(document.createElement('td'), { textContent: text }));
        const last = document.createElement('td');
        if (name === model?.file) last.textContent = 'answers now';
        else {
          const button = Object.assign(document.createElement('button'), {
            textContent: 'Go back to this one',
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
      ? (store.failure ?? `${store.events} events since the start, ${store.waiting} waiting for the disk`)
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
