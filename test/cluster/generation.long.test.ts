/**
 * A request that names a generation is answered from that generation or a newer one, by any machine. Revocation reaches
 * all machines.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test as plainTest, vi } from "vitest";
import { postgresTokenStore, type ClusterEngine } from "../../src/cluster/index.ts";
import { createApiKey, createHandler } from "../../src/http/index.ts";
import { parseGenerations, formatGenerations } from "../../src/search/caller/generations.ts";
import { openFront, startNodes } from "./fronts.ts";
import { newCluster, shop } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";
import { openEngine } from "../engine/opened.ts";

const HEADER = "X-Quern-Generation";

async function ask(handler: (request: Request) => Promise<Response>, headers: object = {}) {
  const response = await handler(
    new Request("http://quern/api/search", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ query: "needle", matches: 5 }),
    }),
  );
  const { files, message } = (await response.json()) as {
    files?: { chunks: { content: string }[] }[];
    message?: string;
  };
  const lines = files?.flatMap(({ chunks }) => chunks.map(({ content }) => content.trim()));
  return { status: response.status, lines, message };
}

/** The part of the OpenAPI document that the test reads. */
interface OpenApi {
  readonly paths: Record<string, Record<string, { parameters?: { $ref?: string }[] }>>;
}

const over = (engine: ClusterEngine) => createHandler(engine, { anonymous: "all" });

describe("X-Quern-Generation", () => {
  test("waits for what is published after the request has arrived, on a copy and on a front", async () => {
    const cluster = await newCluster();
    await startNodes(cluster, 1);
    const writer = await cluster.open();
    expect(writer.written).toBe("");
    const index = (text: string) => writer.index(shop("shop", text), { symbols: "skip" }); // publishes once
    await index("needle 1\n");
    expect(writer.written).toBe("1=1");
    for (const [i, reader] of [await cluster.open(), await openFront(cluster)].entries()) {
      const next = i + 2;
      let isAnswered = false;
      const asked = { [HEADER]: `1=${next}` };
      const waiting = ask(over(reader), asked);
      void waiting.then(() => (isAnswered = true));
      await sleep(50);
      expect(isAnswered).toBe(false);
      await index(`needle ${next}\n`);
      expect(writer.written).toBe(`1=${next}`);
      const waited = await waiting; // on a busy machine its 10 s may be over before index() ends
      const answer = waited.status === 503 ? await ask(over(reader), asked) : waited;
      expect(answer).toMatchObject({ status: 200, lines: [`needle ${next}`] });
      expect((await ask(over(reader), { [HEADER]: "1=1" })).lines).toEqual([`needle ${next}`]);
    }
  });

  test("is rejected if it cannot be parsed, and waits for 10 s at most", async () => {
    const cluster = await newCluster();
    const engine = await cluster.open();
    await engine.index(shop("shop", "needle 1\n"));
    for (const text of ["1", "1=", "=1", "a=1", "1=1;2=2", "1=-1", ""])
      expect(await ask(over(engine), { [HEADER]: text }), text).toMatchObject({
        status: 400,
        message: expect.stringContaining(
          "must be a list of shards and generations such as 3=17",
        ) as string,
      });
    const late = ask(over(engine), { [HEADER]: "7=1" });
    await sleep(50);
    const now = performance.now(); // the fake clock begins at 0
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    vi.advanceTimersByTime(now + 10_001);
    expect(await late).toMatchObject({ status: 503 });
  });

  test("is obeyed by every route that reads the index", async () => {
    const engine = await (await newCluster()).open();
    await engine.index(shop("shop", "needle 1\n"));
    const handler = over(engine);
    const document = await (await handler(new Request("http://quern/api/openapi.json"))).json();
    const heard: string[] = [];
    for (const [path, operations] of Object.entries((document as OpenApi).paths))
      for (const [name, { parameters = [] }] of Object.entries(operations)) {
        if (!parameters.some(({ $ref = "" }) => $ref.endsWith("/Generation"))) continue;
        const method = name.toUpperCase();
        const json = { "content-type": "application/json", [HEADER]: "nonsense" };
        const init = { method, headers: json, ...(method === "POST" && { body: "{}" }) };
        const answer = await handler(new Request(`http://quern${path}`, init));
        expect(await answer.text(), path).toContain(
          "must be a list of shards and generations such as 3=17",
        );
        heard.push(path);
      }
    expect(heard).toEqual(expect.arrayContaining(["/api/search", "/api/stream_search"]));
    expect(heard.length).toBeGreaterThan(8);
  });

  test("is only for callers who see everything, because it would reveal hidden changes", async () => {
    const cluster = await newCluster();
    const engine = await cluster.open();
    await engine.index(shop("shop", "needle 1\n"));
    const { id } = (await engine.repository("shop"))!;
    const repositoryIds = new Set([id]);
    const authenticate = () => Promise.resolve({ kind: "session" as const, repositoryIds });
    const handler = createHandler(engine, { authenticate });
    expect((await ask(handler)).lines).toEqual(["needle 1"]);
    for (const text of ["1=1", "1=999", "nonsense"])
      expect(await ask(handler, { [HEADER]: text })).toMatchObject({ status: 403 });
  });

  plainTest("is ignored by an engine of one machine, which has no shards", async () => {
    const engine = await openEngine();
    await engine.index(shop("shop", "needle 1\n"));
    const handler = createHandler(engine, { anonymous: "all" });
    expect((await ask(handler, { [HEADER]: "9=9" })).lines).toEqual(["needle 1"]);
  });

  plainTest("is read as it is written", () => {
    const generations = new Map([
      [3, 17],
      [4, 2],
    ]);
    expect(formatGenerations(generations)).toBe("3=17,4=2");
    expect(parseGenerations(formatGenerations(generations))).toEqual(generations);
    expect(parseGenerations(" 3=17 , 4=2 ")).toEqual(generations);
  });
});

test("a key that one machine revokes is rejected by all, and its stream from another machine ends", async () => {
  const cluster = await newCluster();
  await startNodes(cluster, 2);
  const fronts = [await openFront(cluster), await openFront(cluster)];
  const lines = Array.from({ length: 300 }, (_, n) => `needle ${n} ${"x".repeat(4_000)}\n`);
  await fronts[0]!.index(shop("shop", ...lines));
  await fronts[1]!.refresh();
  const [first, second] = fronts.map((engine) =>
    createHandler(engine, { tokens: postgresTokenStore(cluster.pool) }),
  );
  const { id, secret } = await createApiKey(postgresTokenStore(cluster.pool), { ownerId: "ada" });
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  const body = JSON.stringify({ query: "needle", matches: 1000 });
  for (const handler of [first!, second!])
    expect((await ask(handler, headers)).lines).toHaveLength(5);
  const stream = await second!(
    new Request("http://quern/api/stream_search", { method: "POST", headers, body }),
  );
  const reader = stream.body!.getReader();
  expect((await reader.read()).done).toBe(false);
  await postgresTokenStore(cluster.pool).revoke(id, new Date());
  for (const handler of [first!, second!])
    expect(await ask(handler, headers)).toMatchObject({ status: 401 });
  await sleep(1_200); // nothing is read in the meantime, and the caller is checked each second
  let bytes = 0;
  const rest = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      bytes += (value as Uint8Array).length;
    }
  };
  await rest().catch(() => undefined);
  expect(bytes).toBeLessThan(600_000); // the part of 1.2 MB that was already on its way
});
