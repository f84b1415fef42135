/**
 * Time-outs and aborts take effect even if garbage is collected all the time. In Node 20, a signal of AbortSignal.any()
 * or of a Request is lost if it is collected while something waits for it. In each row, nothing but the signal or the
 * time-out ends the call.
 */

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { collectGarbage } from "../../src/base/collect-garbage.ts";
import { firstAnswer } from "../../src/cli/first-answer.ts";
import { uncommittedNotes } from "../../src/cli/uncommitted-notes.ts";
import { ClusterWrites, type WriteParts } from "../../src/cluster/cluster-writes.ts";
import { Alarm } from "../../src/cluster/follow/alarm.ts";
import { inTime } from "../../src/cluster/front/ask-replicas.ts";
import type { NodeClient } from "../../src/cluster/front/node-client.ts";
import { streamNodes, type StreamAsked } from "../../src/cluster/front/stream-nodes.ts";
import { s3Segments } from "../../src/cluster/objects/s3-segments.ts";
import { ShardWriter, type ShardWriterOptions } from "../../src/cluster/shard-writer.ts";
import type { Engine } from "../../src/engine.ts";
import { createHandler } from "../../src/http/index.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { git } from "../../src/ingest/sources/git.ts";
import type { Source } from "../../src/ingest/sources/source.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { INTERNALS } from "../../src/internals.ts";
import type { SearchEvent, SearchResponse } from "../../src/search/messages/response.ts";
import type { Repository } from "../../src/repository.ts";
import { startSync, syncConnections } from "../../src/sync/index.ts";
import { watch } from "../../src/watch.ts";
import { openWorkspace, type WorkspaceEngine } from "../../src/workspace/workspace.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";

let collecting: NodeJS.Timeout;
beforeAll(() => void (collecting = setInterval(collectGarbage, 100)));
afterAll(() => clearInterval(collecting));

/** Long enough for several collections before a signal aborts. */
const SOON_MS = 400;
const soon = (): AbortSignal => AbortSignal.timeout(SOON_MS);
/** Returns the signal of a controller that nothing but a timer refers to. */
function aborting(): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), SOON_MS);
  return controller.signal;
}

/** Never settles, unless the signal aborts. A timer refers to what waits, as a socket or a thread would. */
const until = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => {
    const end = () => reject(signal!.reason as Error);
    const timer = setTimeout(end, 600_000).unref();
    const stop = () => (clearTimeout(timer), end());
    signal!.addEventListener("abort", stop, { once: true });
  });

/** A source whose listing never comes. */
const silent = (name: string): Source => ({
  name,
  metadata: {},
  open: (_, { signal }) => until(signal),
});

/** Resolves to "ABORTED", the code of another error of a call, or "returned". */
const outcome = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "returned",
    ({ code, name }: { code?: string | number; name: string }) =>
      name === "AbortError" || name === "TimeoutError" ? "ABORTED" : String(code ?? name),
  );

/** A git folder on which git waits forever. */
function pipeInside(): string {
  const folder = join(temporaryFolder(), "repo");
  execFileSync("git", ["init", "-q", "--bare", folder]);
  mkdirSync(join(folder, "info"), { recursive: true });
  writeFileSync(join(folder, "config"), "[core]\n\tbare = true\n[include]\n\tpath = pipe\n");
  execFileSync("mkfifo", [join(folder, "pipe")]);
  return folder;
}

/** Resolves to the address of a server that answers with `answer`. */
async function serverOf(answer: (req: IncomingMessage, res: ServerResponse) => void) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function sync(engine: Engine, url: string, signal?: AbortSignal) {
  const { connections } = await syncConnections(
    engine,
    {
      connections: { work: { type: "gitea", url, token: { env: "T" }, all: true } },
      sync: { stallTimeout: "1s" },
    },
    { env: { T: "t" }, folder: temporaryFolder(), ...(signal && { signal }) },
  );
  return connections[0]!.problems[0]?.message;
}

const request = { query: "a", matches: 1 };

const ROWS: Record<string, (engine: Engine) => Promise<unknown>> = {
  "index() of a silent source": (engine) => outcome(engine.index(silent("r"), { signal: soon() })),
  "index() of a source that a controller aborts": (engine) =>
    outcome(engine.index(silent("r"), { signal: aborting() })),
  "index() of a git folder with a pipe": (engine) =>
    outcome(engine.index(git(pipeInside()), { signal: soon() })),
  "index() that waits behind another": (engine) => {
    void engine.index(silent("r"), { signal: AbortSignal.timeout(2 * SOON_MS) }).catch(() => {});
    return outcome(engine.index(silent("s"), { signal: soon() }));
  },
  "index() that waits for the lease": async (engine) => {
    void engine.index(silent("r")).catch(() => {});
    const options = { lockTimeoutMs: 600_000 };
    const other = await openEngine(options, engine.path);
    return outcome(other.index(silent("s"), { signal: soon() }));
  },
  "compact() that waits behind a run": (engine) => {
    void engine.index(silent("r"), { signal: AbortSignal.timeout(3 * SOON_MS) }).catch(() => {});
    return outcome(engine.compact({ signal: soon() }));
  },
  "watch()": (engine) => outcome(watch(engine, [git(pipeInside())], { signal: soon() })),
  "history()": async (engine) => {
    const folder = join(temporaryFolder(), "r");
    execFileSync("git", ["init", "-q", "-b", "main", folder]);
    writeFileSync(join(folder, "a"), "a\n");
    const who = ["-c", "user.name=a", "-c", "user.email=a@b"];
    execFileSync("git", ["-C", folder, "add", "a"]);
    execFileSync("git", ["-C", folder, ...who, "commit", "-qm", "a"]);
    await engine.index(git(folder, { name: "r" }));
    const history = await engine.history("r");
    execFileSync("mkfifo", [join(folder, ".git/pipe")]);
    execFileSync("git", ["-C", folder, "config", "include.path", "pipe"]);
    return outcome(history!.commits({ signal: soon() }));
  },
  "sync with a host that never answers": async (engine) => {
    const error = await sync(engine, await serverOf(() => undefined));
    return error?.includes("did not respond within 1 s") ? "ABORTED" : error;
  },
  "sync with a host that never ends its answer": async (engine) => {
    const url = await serverOf((_, res) => void res.writeHead(200).write("["));
    const error = await sync(engine, url);
    return error?.includes("timed out") ? "ABORTED" : error;
  },
  "sync that is aborted": async (engine) =>
    outcome(sync(engine, await serverOf(() => undefined), soon())),
  "a sync service that is stopped while it waits": async (engine) => {
    const options = { env: {}, folder: temporaryFolder() };
    const service = startSync(engine, { connections: {}, sync: { every: "1h" } }, options);
    await new Promise((resolve) => setTimeout(resolve, SOON_MS));
    await service[Symbol.asyncDispose]();
    return "ABORTED";
  },
  "a request to S3 that is never answered": () => {
    const client = {
      send: (_: object, { abortSignal }: { abortSignal?: AbortSignal } = {}) => until(abortSignal),
    };
    const store = s3Segments(client, { bucket: "b", timeoutMs: SOON_MS });
    return outcome(store.delete("v1/a"));
  },
  "a request to S3 that is aborted": () => {
    const client = {
      send: (_: object, { abortSignal }: { abortSignal?: AbortSignal } = {}) => until(abortSignal),
    };
    return outcome(s3Segments(client, { bucket: "b" }).delete("v1/a", soon()));
  },
  "a call to a node, for the time of the search": () =>
    inTime({ startedAt: performance.now(), timeoutMs: SOON_MS }, until).then((why) =>
      why === "late" ? "ABORTED" : why,
    ),
  "a call to a node, for the caller": () =>
    outcome(inTime({ startedAt: performance.now(), timeoutMs: 600_000, signal: soon() }, until)),
  "the wait of a task of a cluster": () => new Alarm().wait(600_000, soon()).then(() => "ABORTED"),
  "a write of a cluster that waits for a shard": () => {
    const catalog = { shardOf: async () => 0, lease: async () => undefined };
    const options = { catalog, lockTimeoutMs: 600_000 } as unknown as ShardWriterOptions;
    const writes = clusterWrites({ catalog, newWriter: () => new ShardWriter(options) });
    return outcome(writes.index(silent("r"), { signal: soon() }));
  },
  "a job of a cluster": async () => {
    let state = "ABORTED";
    const job = { repository: "r", payload: null, failures: 0, asked: 1 };
    const jobs = {
      take: async () => job,
      renew: async () => true,
      release: async () => undefined,
      fail: async () => void (state = "failed"),
    };
    const newWriter = () => ({ close: async () => undefined });
    const writes = clusterWrites({ jobs, jobAlarms: new Set(), newWriter });
    await writes.work(({ signal }) => until(signal), { signal: soon() });
    return state;
  },
  "collect() of a cluster": () => {
    const collection = {
      lease: async () => true,
      release: async () => undefined,
      dropRows: async () => ({}),
      named: async () => new Set(),
      doomed: async () => [],
    };
    const store = {
      // eslint-disable-next-line require-yield
      async *list(_: string, signal: AbortSignal): AsyncGenerator<never> {
        await until(signal);
      },
    };
    return outcome(clusterWrites({ collection, store }).collect({ signal: soon() }));
  },
  "a stream of a front whose node does not begin": () => frontStream((ends) => until(ends)),
  "a stream of a front whose node falls silent": () =>
    frontStream(async (ends) => ({ next: () => until(ends) })),
  "a workspace that is closed while it extracts symbols": async (engine) => {
    let began: () => void;
    const extracting = new Promise<void>((resolve) => (began = resolve));
    const core: Partial<WorkspaceEngine> = {
      path: engine.path,
      maxFileSize: 1_000,
      bounds: INTERNALS.workspaces,
      notices: INTERNALS.notices,
      release: async () => undefined,
      onClose: () => undefined,
      index: (source, { signal }) => {
        if (!Array.isArray(source)) return engine.index(source, { signal });
        began();
        return until(signal);
      },
    };
    const workspace = await openWorkspace(core as WorkspaceEngine, temporaryFolder(), {});
    await extracting;
    await new Promise((resolve) => setTimeout(resolve, SOON_MS));
    await workspace.close();
    return "ABORTED";
  },
  "the count of uncommitted files": async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, ".git"), `gitdir: ${pipeInside()}\n`);
    const revisions = [{ commit: "0" }];
    const repository = { name: "r", origin: { folder }, revisions } as unknown as Repository;
    const notes = await uncommittedNotes([repository], soon());
    return notes.length === 0 ? "ABORTED" : notes[0];
  },
  "the wait of quern mcp for its first call": () =>
    firstAnswer(soon(), 600_000).given.then(() => "ABORTED"),
  "a search over HTTP": (engine) =>
    handled(engine, "/api/search", (handler, url) =>
      handler(new Request(url, { ...POST, signal: aborting() })),
    ),
  "a stream over HTTP, before its first event": (engine) =>
    handled(engine, "/api/stream_search", (handler, url) =>
      handler(new Request(url, { ...POST, signal: aborting() })),
    ),
  "a call of a tool over MCP": async (engine) => {
    const call = { name: "search", arguments: { query: "a" } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call });
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      host: "localhost",
    };
    const { waiting, aborted } = waitingEngine(engine);
    const handler = createMcpHandler(waiting, { timeoutMs: 600_000 });
    const asked = { method: "POST", headers, body, signal: aborting() };
    void handler(new Request("http://localhost/mcp", asked)).catch(() => {});
    return aborted;
  },
};

const POST = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(request),
};

const clusterWrites = (parts: Partial<Record<keyof WriteParts, unknown>>): ClusterWrites =>
  new ClusterWrites({ newWriter: () => undefined, ...parts } as unknown as WriteParts);

/** Reads a front's stream until its caller aborts it. `answer` is the answer of the node. */
async function frontStream(answer: (ends: AbortSignal) => Promise<unknown>): Promise<string> {
  const client = {
    stream: (_url: string, _call: object, ends: AbortSignal) => answer(ends),
  } as unknown as NodeClient;
  const slices: StreamAsked["slices"] = [{ slice: [0, 1, 0], replicas: ["a"] }];
  const isElsewhere = async () => false;
  const placedNow: StreamAsked["placedNow"] = async (some) => some;
  const asked = { request, slices, isElsewhere, placedNow, signal: soon(), timeoutMs: 600_000 };
  return outcome(streamNodes(client, asked).next());
}

/** Returns an engine whose searches end only if they are aborted, and a promise for the first abort. */
function waitingEngine(engine: Engine) {
  let tell: (what: string) => void;
  const aborted = new Promise<string>((resolve) => (tell = resolve));
  const wait = (signal: AbortSignal | undefined): Promise<never> => {
    const never = until(signal);
    never.catch(() => tell("ABORTED"));
    return never;
  };
  const methods: Partial<Engine> = {
    search: (_, options) => wait(options?.signal) as Promise<SearchResponse>,
    explain: (_, options) => wait(options?.signal),
    // eslint-disable-next-line require-yield
    async *stream(_, options): AsyncGenerator<SearchEvent> {
      await wait(options?.signal);
    },
  };
  const waiting = new Proxy(engine, {
    get: (target, key) => {
      const own: unknown = Reflect.get(methods, key) ?? Reflect.get(target, key, target);
      return typeof own === "function" ? (own.bind(target) as unknown) : own;
    },
  });
  return { waiting, aborted };
}

function handled(
  engine: Engine,
  path: string,
  ask: (handler: ReturnType<typeof createHandler>, url: string) => Promise<Response>,
): Promise<string> {
  const { waiting, aborted } = waitingEngine(engine);
  const handler = createHandler(waiting, { anonymous: "all", timeoutMs: 600_000 });
  void ask(handler, `http://localhost${path}`).catch(() => {});
  return aborted;
}

const LOST_MS = 60_000;

test.each(Object.keys(ROWS))("%s ends", async (row) => {
  const engine = await openEngine();
  await engine.index(documents({ name: "d", files: [{ path: "a", content: "a\n" }] }));
  const lost = new Promise((resolve) => setTimeout(resolve, LOST_MS, "lost").unref());
  expect(await Promise.race([ROWS[row]!(engine), lost])).toBe("ABORTED");
});
