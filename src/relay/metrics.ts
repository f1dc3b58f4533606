/** Counters, gauges and histograms as Prometheus text (exposition format 0.0.4). */

type Labels = Record<string, string>;

interface Metric {
  render(): string[];
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function heading(name: string, { help, type }: { help: string; type: string }): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

/** Only increases. Its labels come from fixed sets, never from a peer. */
export class Counter implements Metric {
  readonly #name: string;
  readonly #help: string;
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  add(labels: Labels = {}, amount = 1): void {
    const key = labelText(labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + amount);
  }

  render(): string[] {
    const values = this.#values.size === 0 ? [["", 0] as const] : [...this.#values];
    return [
      ...heading(this.#name, { help: this.#help, type: "counter" }),
      ...values.map(([labels, value]) => `${this.#name}${labels} ${value}`),
    ];
  }
}

/** Its values are read when the metrics are rendered. */
export class Gauge implements Metric {
  readonly #name: string;
  readonly #help: string;
  readonly #read: () => [Labels, number][];

  constructor(name: string, options: { help: string; read: () => [Labels, number][] }) {
    this.#name = name;
    this.#help = options.help;
    this.#read = options.read;
  }

  render(): string[] {
    return [
      ...heading(this.#name, { help: this.#help, type: "gauge" }),
      ...this.#read().map(([labels, value]) => `${this.#name}${labelText(labels)} ${value}`),
    ];
  }
}

/** Upper bounds of the buckets, in seconds. */
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600];

/** Durations in seconds. */
export class Histogram implements Metric {
  readonly #name: string;
  readonly #help: string;
  readonly #counts: number[] = BUCKETS_SECONDS.map(() => 0);
  #count = 0;
  #sum = 0;

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  observe(seconds: number): void {
    const bucket = BUCKETS_SECONDS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#count += 1;
    this.#sum += seconds;
  }

  render(): string[] {
    let below = 0;
    const buckets = BUCKETS_SECONDS.map((bound, index) => {
      below += this.#counts[index] ?? 0;
      return `${this.#name}_bucket{le="${bound}"} ${below}`;
    });
    return [
      ...heading(this.#name, { help: this.#help, type: "histogram" }),
      ...buckets,
      `${this.#name}_bucket{le="+Inf"} ${this.#count}`,
      `${this.#name}_sum ${this.#sum}`,
      `${this.#name}_count ${this.#count}`,
    ];
  }
}

/** A metric as a module declares it; each relay has its own values. */
export interface Declared<M extends Metric> {
  name: string;
  make(): M;
}

const DECLARED: Declared<Metric>[] = [];

function declare<M extends Metric>(metric: Declared<M>): Declared<M> {
  DECLARED.push(metric);
  return metric;
}

/** Declares a counter, at the top of the module that counts: `metrics.of(RESENT).add()`. */
export function counter(name: string, help: string): Declared<Counter> {
  return declare({ name, make: () => new Counter(name, help) });
}

/** Declares a histogram of durations in seconds. */
export function histogram(name: string, help: string): Declared<Histogram> {
  return declare({ name, make: () => new Histogram(name, help) });
}

/** One relay's values of the metrics that its modules declare. */
export class RelayMetrics {
  readonly #metrics = new Map<Declared<Metric>, Metric>();

  of<M extends Metric>(declared: Declared<M>): M {
    const metric = this.#metrics.get(declared) ?? declared.make();
    this.#metrics.set(declared, metric);
    return metric as M;
  }

  /** The text of `/metrics`: what is declared, by name, and the current values of `gauges`. */
  render(gauges: readonly Gauge[]): string {
    const declared = DECLARED.toSorted((one, other) => one.name < other.name ? -1 : 1);
    const metrics = [...declared.map((one) => this.of(one)), ...gauges];
    return `${metrics.flatMap((metric) => metric.render()).join("\n")}\n`;
  }
}
