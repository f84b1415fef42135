/** Calls that take long: the client is told that they are at work, and leaves when it likes. */

import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { openEngine } from "../engine/opened.ts";
import { connected } from "./connected.ts";

const TIMEOUT_MS = 60_000;

/** An engine whose searches wait for something. */
async function waiting(until: (signal: AbortSignal | undefined) => Promise<void>): Promise<Engine> {
  const engine = await openEngine();
  await engine.index(documents({ name: "r", files: [{ path: "a.ts", content: "needle" }] }));
  return new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name !== "search") return typeof value === "function" ? value.bind(target) : value;
      return async (...args: Parameters<Engine["search"]>) => {
        await until(args[1]?.signal);
        return target.search(...args);
      };
    },
  });
}

const ERAS = ["2025", "2026"];
const CALL = { name: "search", arguments: { query: "needle" } };

test.each(ERAS)("era %s: progress is told, and rises", { timeout: TIMEOUT_MS }, async (era) => {
  let go = () => {};
  const isTold = new Promise<void>((resolve) => (go = resolve));
  const client = await connected(createMcpHandler(await waiting(() => isTold)), { era });
  const told: { progress: number; message?: string | undefined }[] = [];
  const onprogress = (one: { progress: number; message?: string | undefined }): void => {
    if (told.push(one) === 2) go();
  };
  const { content } = await client.callTool(CALL, { onprogress });
  expect(content).toMatchObject([{ text: expect.stringContaining("1: needle") as string }]);
  expect(told.slice(0, 2)).toMatchObject([
    { progress: 1, message: "at work for 0.5 s" },
    { progress: 2, message: "at work for 1 s" },
  ]);
});

/** Searches that go on until they are told to end, and the moments at which that happens. */
function endless() {
  let begin = () => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const until = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((_, reject) => {
      begin();
      signal!.addEventListener("abort", () => {
        end();
        reject(signal!.reason as Error);
      });
    });
  return { begun, ended, until };
}

test("a call that a client of 2026 gives up ends", { timeout: TIMEOUT_MS }, async () => {
  const { begun, ended, until } = endless();
  const client = await connected(createMcpHandler(await waiting(until)));
  const leaving = new AbortController();
  const call = client.callTool(CALL, { signal: leaving.signal }).catch((error: unknown) => error);
  await begun;
  leaving.abort(new Error("left"));
  expect(await call).toBeInstanceOf(Error);
  await ended;
});
