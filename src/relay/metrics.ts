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

/** The relay's own metrics, rendered in this order. A new metric is one field here. */
export class RelayMetrics {
  readonly requests = new Counter("svc_http_requests_total", "HTTP requests by status.");
  readonly pushes = new Counter(
    "svc_pushes_total",
    "Pushes by outcome: accepted, repeated, and each final state.",
  );
  readonly resent = new Counter(
    "svc_pushes_resent_total",
    "Pushes sent again because no acknowledgement came.",
  );
  readonly slow = new Counter(
    "svc_slow_clients_total",
    "Clients closed because they did not read fast enough.",
  );
  readonly silent = new Counter(
    "svc_silent_clients_total",
    "Clients closed because they were silent too long.",
  );
  readonly unknownEvents = new Counter(
    "svc_unknown_events_total",
    "Frames with an event that this relay does not know or expect.",
  );
  readonly strayFrames = new Counter(
    "svc_stray_frames_total",
    "Mirror frames that belong to none of their sender's streams.",
  );
  readonly malformed = new Counter("svc_malformed_frames_total", "Malformed frames.");
  readonly overBudget = new Counter(
    "svc_over_budget_total",
    "Refusals and closed connections because a sender exceeded a limit, by limit.",
  );
  readonly deviceTaken = new Counter(
    "svc_device_taken_total",
    "Hellos refused because another key or home owns the device.",
  );
  readonly identityChanged = new Counter(
    "svc_identity_changed_total",
    "Listeners that reconnected with a new identity and the same key.",
  );
  readonly gaps = new Counter(
    "svc_nats_gaps_total",
    "Reconnects to NATS, and times that NATS dropped messages because this node read too slowly.",
  );
  readonly webPush = new Counter(
    "svc_web_push_total",
    "Web Push messages by outcome: sent, dead, failed, dropped, and unnecessary because the push was seen or closed.",
  );
  readonly delivered = new Histogram(
    "svc_push_delivered_seconds",
    "From acceptance to the first acknowledgement.",
  );
  readonly final = new Histogram(
    "svc_push_final_seconds",
    "From acceptance to the final state of a listener's push.",
  );

  /** The text of `/metrics`, including the current values of `gauges`. */
  render(gauges: readonly Gauge[]): string {
    const metrics: Metric[] = [...Object.values(this), ...gauges];
    return `${metrics.flatMap((metric) => metric.render()).join("\n")}\n`;
  }
}
