// Counters, gauges and histograms in Prometheus' text format. Every outcome is counted, not successes alone.

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type Labels = Readonly<Record<string, string>>;

export class Metrics {
  readonly #lines: (() => string[])[] = [];

  counter(name: string, help: string) {
    const values = new Map<string, number>();
    this.#lines.push(() => [
      ...heading(name, help, 'counter'),
      ...[...values].map(([labels, value]) => `${name}${labels} ${value}`),
    ]);
    return {
      add(labels: Labels, by = 1): void {
        const key = labelText(labels);
        values.set(key, (values.get(key) ?? 0) + by);
      },
    };
  }

  /** A value that is read when the metrics are asked for: a number, none, or one for each set of labels. */
  gauge(
    name: string,
    help: string,
    read: () => number | undefined | readonly { readonly labels: Labels; readonly value: number }[],
    type: 'gauge' | 'counter' = 'gauge',
  ): void {
    this.#lines.push(() => {
      const found = read() ?? [];
      const series = typeof found === 'number' ? [{ labels: {}, value: found }] : found;
      const lines = series.map(({ labels, value }) => `${name}${labelText(labels)} ${value}`);
      return [...heading(name, help, type), ...lines];
    });
  }

  histogram(name: string, help: string) {
    const series = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>();
    this.#lines.push(() => [
      ...heading(name, help, 'histogram'),
      ...[...series.values()].flatMap(({ labels, counts, sum, count }) => [
        ...BUCKETS.map((le, b) => `${name}_bucket${labelText({ ...labels, le: String(le) })} ${counts[b]}`),
        `${name}_bucket${labelText({ ...labels, le: '+Inf' })} ${count}`,
        `${name}_sum${labelText(labels)} ${sum}`,
        `${name}_count${labelText(labels)} ${count}`,
      ]),
    ]);
    return {
      observe(labels: Labels, seconds: number): void {
        const key = labelText(labels);
        let one = series.get(key);
        if (!one) {
          one = { labels, counts: new Array(BUCKETS.length).fill(0), sum: 0, count: 0 };
          series.set(key, one);
        }
        for (const [b, le] of BUCKETS.entries()) if (seconds <= le) one.counts[b]++;
        one.sum += seconds;
        one.count++;
      },
    };
  }

  text(): string {
    return `${this.#lines.flatMap((lines) => lines()).join('\n')}\n`;
  }
}

function heading(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function labelText(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => {
    const escaped = value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
    return `${name}="${escaped}"`;
  });
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}
