/**
 * Collects the metrics of a handler. They count what the engine and its callers have done since the handler was
 * created, and how much the index contains. Labels are names of operations, calls and error codes. Labels never show
 * what was searched, in which repository, or by whom.
 */

import { VERSION } from "../base/version.ts";
import { coreOf } from "../core-of.ts";
import type { Engine } from "../engine.ts";
import { Counter, Durations } from "../metrics/counted.ts";
import { metricsText, type Metric, type Sample } from "../metrics/metrics-text.ts";
import type { IndexSize, Observer } from "../tracing.ts";

export interface Metrics {
  /** Counts a finished request. */
  request(operation: string, status: number): void;
  text(): Promise<string>;
}

export function createMetrics(engine: Engine): Metrics {
  const requests = new Counter();
  const counts = new Counts();
  const { observed, metrics } = coreOf(engine);
  observed?.add(counts);
  return {
    request: (operation, status) => requests.add({ operation, status: String(status) }),
    text: async () =>
      metricsText([
        gauge("quern_info", "The version of the package.", [
          { labels: { version: VERSION }, value: 1 },
        ]),
        counter("quern_http_requests_total", "Requests by operation and status.", requests),
        ...(observed ? [...counts.metrics(), ...ofIndex(await observed.size())] : []),
        ...(await metrics()),
        ...ofProcess(),
      ]),
  };
}

class Counts implements Observer {
  readonly #searches = new Counter(...["search", "stream", "explain"].map((call) => ({ call })));
  readonly #searchErrors = new Counter();
  readonly #searchDurations = new Durations();
  readonly #timeouts = new Counter({});
  readonly #damaged = new Counter({});
  readonly #writes = new Counter(...["index", "remove", "compact"].map((call) => ({ call })));
  readonly #writeErrors = new Counter();
  readonly #writeDurations = new Durations();
  readonly #indexed = new Counter({});
  readonly #bytesRead = new Counter({});
  readonly #deaths = new Counter({});

  searched({ call, stats, error, durationMs = 0 }: Parameters<Observer["searched"]>[0]): void {
    this.#searches.add({ call });
    this.#searchDurations.add(durationMs);
    if (error !== undefined) this.#searchErrors.add({ code: codeOf(error) });
    if (stats?.flushReason === "FLUSH_REASON_TIMER_EXPIRED") this.#timeouts.add({});
    this.#damaged.add({}, stats?.crashes ?? 0);
  }

  indexed({ call, reports = [], error, durationMs = 0 }: Parameters<Observer["indexed"]>[0]): void {
    this.#writes.add({ call });
    this.#writeDurations.add(durationMs);
    if (error !== undefined) this.#writeErrors.add({ code: codeOf(error) });
    this.#indexed.add({}, reports.length);
    for (const { bytesRead } of reports) this.#bytesRead.add({}, bytesRead);
  }

  workerDied(): void {
    this.#deaths.add({});
  }

  metrics(): Metric[] {
    return [
      counter("quern_searches_total", "Searches that have ended.", this.#searches),
      counter("quern_search_errors_total", "Searches that failed.", this.#searchErrors),
      durations("quern_search_duration_seconds", "Time of a search.", this.#searchDurations),
      counter("quern_search_timeouts_total", "Searches that ran out of time.", this.#timeouts),
      counter(
        "quern_search_damaged_segments_total",
        "Segments that a search could not read.",
        this.#damaged,
      ),
      counter("quern_writes_total", "Index runs, removals and compactions.", this.#writes),
      counter("quern_write_errors_total", "Writes that failed.", this.#writeErrors),
      durations("quern_write_duration_seconds", "Time of a write.", this.#writeDurations),
      counter("quern_indexed_repositories_total", "Repositories that were indexed.", this.#indexed),
      counter("quern_indexed_bytes_total", "Bytes read from sources.", this.#bytesRead),
      counter("quern_worker_deaths_total", "Workers that died.", this.#deaths),
    ];
  }
}

/**
 * Returns the code of a QuernError, and INTERNAL for any other error. Recognizes a QuernError by its name, because
 * the error may come from another copy of the package.
 */
const codeOf = (error: unknown): string =>
  error instanceof Error && error.name === "QuernError" && "code" in error
    ? String(error.code)
    : "INTERNAL";

function ofIndex({ repositories, segments, files, textBytes }: IndexSize): Metric[] {
  return [
    gauge("quern_repositories", "Indexed repositories.", [{ value: repositories }]),
    gauge("quern_segments", "Segments of the index.", [{ value: segments }]),
    gauge("quern_files", "Files in segments, replaced ones included.", [{ value: files }]),
    gauge("quern_text_bytes", "Text in segments, replaced text included.", [{ value: textBytes }]),
  ];
}

/** Returns metrics of the process, under the names that Prometheus's client libraries use. */
function ofProcess(): Metric[] {
  const { user, system } = process.cpuUsage();
  const cpu = [{ value: (user + system) / 1e6 }];
  const start = [{ value: performance.timeOrigin / 1000 }];
  return [
    {
      name: "process_cpu_seconds_total",
      help: "Processor time of all threads.",
      type: "counter",
      samples: cpu,
    },
    gauge("process_resident_memory_bytes", "Resident memory, the mapped index included.", [
      { value: process.memoryUsage.rss() },
    ]),
    gauge("process_start_time_seconds", "Start of the process, in Unix time.", start),
  ];
}

const counter = (name: string, help: string, counted: Counter): Metric => ({
  name,
  help,
  type: "counter",
  samples: counted.samples(),
});

const durations = (name: string, help: string, counted: Durations): Metric => ({
  name,
  help,
  type: "histogram",
  samples: counted.samples(),
});

const gauge = (name: string, help: string, samples: readonly Sample[]): Metric => ({
  name,
  help,
  type: "gauge",
  samples,
});
