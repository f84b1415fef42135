/**
 * Writes metrics in Prometheus' text format, version 0.0.4:
 *
 *     # HELP quern_searches_total Searches that have ended.
 *     # TYPE quern_searches_total counter
 *     quern_searches_total{call="search"} 12
 *
 * The metrics themselves are defined in other files, which import this file.
 */

/**
 * A metric with its samples. The name of a counter ends with `_total`. The name of any other metric ends with its
 * unit, if it has one.
 */
export interface Metric {
  readonly name: string;
  /** A description of the metric, in one sentence. */
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly samples: readonly Sample[];
}

export interface Sample {
  /** The text that follows the metric's name in a sample of a histogram. It is `_bucket`, `_sum` or `_count`. */
  readonly suffix?: string;
  readonly labels?: Labels;
  readonly value: number;
}

export type Labels = Readonly<Record<string, string>>;

/** The value of the Content-Type header. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export const metricsText = (metrics: Iterable<Metric>): string =>
  Array.from(metrics, metricText).join("");

function metricText({ name, help, type, samples }: Metric): string {
  const lines = samples.map(
    ({ suffix = "", labels = {}, value }) =>
      `${name}${suffix}${labelsText(labels)} ${numberText(value)}\n`,
  );
  return `# HELP ${name} ${escapeText(help)}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escapeText(value).replaceAll('"', '\\"')}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join()}}`;
}

const escapeText = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");

const numberText = (value: number): string =>
  value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : String(value);
