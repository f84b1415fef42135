/**
 * The tasks of the page's thread, by the browser's own trace. Other work of the machine affects frames, but not a
 * task's processor time.
 */

import type { Browser, CDPSession } from "playwright-core";

interface TraceEvent {
  name: string;
  ph: string;
  tid: number;
  pid: number;
  /** Microseconds of processor time. */
  tdur?: number;
  args?: { name?: string };
}

/** Resolves to the processor times of the tasks during `act` in milliseconds, the longest first. */
export async function tasksDuring(browser: Browser, act: () => Promise<void>): Promise<number[]> {
  const session = await browser.newBrowserCDPSession();
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) =>
    events.push(...(value as unknown as TraceEvent[])),
  );
  await session.send("Tracing.start", {
    traceConfig: { includedCategories: ["toplevel", "__metadata"] },
    transferMode: "ReportEvents",
  });
  try {
    await act();
  } finally {
    await end(session);
  }
  return mainTasks(events);
}

async function end(session: CDPSession): Promise<void> {
  const complete = new Promise<void>((done) =>
    session.once("Tracing.tracingComplete", () => done()),
  );
  await session.send("Tracing.end");
  await complete;
  await session.detach();
}

function mainTasks(events: readonly TraceEvent[]): number[] {
  const thread = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;
  const mains = new Set(
    events
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(thread),
  );
  return events
    .filter((event) => event.ph === "X" && event.tdur !== undefined && mains.has(thread(event)))
    .map(({ tdur }) => tdur! / 1000)
    .sort((a, b) => b - a);
}
