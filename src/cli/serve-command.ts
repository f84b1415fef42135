/** Implements quern serve, which serves the HTTP interface on a port until the process is stopped. */

import { once } from "node:events";
import { createServer } from "node:http";
import type { Command } from "commander";
import { isOwnName } from "../base/own-names.ts";
import type { Engine } from "../engine.ts";
import type { HandlerOptions } from "../http/options.ts";
import { checkToolNames } from "../mcp/tool-names.ts";
import {
  membersOrAnybody,
  openAccounts,
  openClusterAccounts,
  type Accounts,
} from "./account-stores.ts";
import {
  type Call,
  collect,
  type CommonFlags,
  oneOf,
  port,
  wholeNumber,
  withCluster,
  withCommonOptions,
} from "./call.ts";
import { openMachine } from "./cluster-node.ts";
import { warnOn, withEngine } from "./engine-session.ts";
import { forwardedAddress } from "./forwarded-address.ts";
import { type Io, printJson } from "./io.ts";
import { addressOf, closeServer, listenOn } from "./listening.ts";
import { connectionsFor } from "./serve-sync.ts";

interface ServeFlags extends CommonFlags {
  port: number;
  host: string;
  anonymous?: "public" | "all";
  basePath?: string;
  serviceName?: string;
  maxMatches?: number;
  maxConcurrent?: number;
  maxWaiting?: number;
  timeout?: number;
  cors?: string[];
  mcpHost?: string[];
  withoutTool?: string[];
  showSecrets?: boolean;
  workers?: number;
  page: boolean;
  publicUrl?: string;
  trustProxy?: true;
  metrics: "owners" | "anyone";
  sync?: string;
}

/** How long a sync run waits while another machine writes to the same shard. */
const CLUSTER_LOCK_MS = 600_000;

export function addServe(program: Command, call: Call): void {
  withCluster(withCommonOptions(program.command("serve")))
    .summary("answer searches over HTTP")
    .description(
      "Answer searches over HTTP. quern index may run at the same time; each search sees the newest state.\n" +
        "Callers need an API key (quern keys create), unless --anonymous is given.",
    )
    .option("--port <n>", "port to listen on; 0: any free port", port, 3000)
    .option("--host <name>", "address to listen on", "127.0.0.1")
    .option(
      "--anonymous <what>",
      "what callers may search without a key: public, all",
      oneOf(["public", "all"]),
    )
    .option("--base-path <path>", "path before /api")
    .option("--public-url <url>", "address seen from outside; default: that of each request")
    .option("--trust-proxy", "distinguish clients by the last address in X-Forwarded-For")
    .option("--service-name <name>", "name in the header X-<name>-Api-Key; default: Quern")
    .option("--max-matches <n>", "maximum number of matches of a search", wholeNumber)
    .option("--max-concurrent <n>", "searches that run at the same time; default: 64", wholeNumber)
    .option("--max-waiting <n>", "searches that wait for one of these; default: 256", wholeNumber)
    .option("--timeout <ms>", "time limit of a search; default: 10000", wholeNumber)
    .option(
      "--cors <origin>",
      "allow calls from pages of this origin; repeatable; * for all",
      collect,
    )
    .option(
      "--metrics <who>",
      "who may read /api/metrics: owners, anyone",
      oneOf(["owners", "anyone"]),
      "owners",
    )
    .option(
      "--mcp-host <name>",
      "accept agents under this host name, besides local ones; repeatable; * for any",
      collect,
    )
    .option("--without-tool <name>", "do not offer this tool to agents; repeatable", collect)
    .option("--show-secrets", "show agents files and values that look like secrets")
    .option("--no-page", "do not serve the search page")
    .option(
      "--sync <config>",
      "keep the index up to date with code hosts, and accept their webhooks",
    )
    .option(
      "--workers <n>",
      "number of threads; default: one for each core, at most 4",
      wholeNumber,
    )
    .action(async (flags: ServeFlags) => {
      checkToolNames("quern serve: --without-tool", flags.withoutTool ?? []);
      if (flags.cluster !== undefined) return serveCluster(flags.cluster, flags, call.io);
      const { db, workers } = flags;
      const readOnly = flags.sync === undefined;
      const options = { db, readOnly, ...(workers !== undefined && { workers }) };
      return withEngine(call.io, options, async (engine) => {
        await using accounts = await openAccounts(db);
        await serve({ engine, accounts }, flags, call.io);
      });
    });
}

async function serveCluster(file: string, flags: ServeFlags, io: Io): Promise<void> {
  const { openClusterFile } = await import("./cluster-file.ts");
  await using opened = await openClusterFile(file, io.env);
  const { workers } = flags;
  const { options, listen } = opened.machine();
  const running = {
    ...(workers !== undefined && { workers }),
    lockTimeoutMs: CLUSTER_LOCK_MS,
    onWarning: warnOn(io),
  };
  await using machine = await openMachine({ ...options, ...running }, listen);
  const { engine } = machine;
  const accounts = await openClusterAccounts(opened);
  // sync keeps the records of its connections in this machine's folder
  await serve({ engine, accounts }, { ...flags, db: engine.path }, io);
}

interface Served {
  readonly engine: Engine;
  readonly accounts: Accounts;
}

async function serve({ engine, accounts }: Served, flags: ServeFlags, io: Io): Promise<void> {
  // loaded only here, because no other command needs this module, and loading it takes longer than loading everything
  // else
  const { answerUnreadable, createHandler, toNodeListener } = await import("../http/index.ts");
  await using sync = await connectionsFor(engine, flags, io);
  const { connections, webhook } = sync;
  const { tokens, audits } = accounts;
  const users = membersOrAnybody(accounts.users);
  const handler = createHandler(engine, {
    tokens,
    users,
    audits,
    connections,
    ...(webhook && { webhook }),
    ...(flags.trustProxy && { clientKey: forwardedAddress }),
    ...handlerOptions(flags),
  });
  const answer = isForThisMachine(flags) ? underOwnNames(handler, flags) : handler;
  const server = createServer({ requireHostHeader: false }, toNodeListener(answer));
  answerUnreadable(server);
  await listenOn(server, flags);
  announce(addressOf(server, flags.host), flags, io);
  if (flags.anonymous === undefined && !(await accounts.hasKeys())) io.stderr.write(NO_KEYS);
  if (!io.signal.aborted) await once(io.signal, "abort");
  await closeServer(server);
}

type Handler = (request: Request) => Promise<Response>;

const NO_KEYS =
  "quern: warning: nobody can search yet, because there is no API key; create one with quern keys create, " +
  "or let everybody search with --anonymous public or --anonymous all\n";

/** Whether only programs on this machine can connect, and all of them may read everything. */
const isForThisMachine = ({ anonymous, host }: ServeFlags): boolean =>
  anonymous === "all" && (host === "localhost" || host === "::1" || host.startsWith("127."));

function underOwnNames(handler: Handler, { publicUrl }: ServeFlags): Handler {
  const publicName = publicUrl === undefined ? undefined : new URL(publicUrl).hostname;
  return async (request) => {
    const { hostname } = new URL(request.url);
    if (isOwnName(hostname) || hostname === publicName) return handler(request);
    const message = `with --anonymous all, this server does not answer under the name ${hostname}; set its own name with --public-url`;
    const errorCode = "INSUFFICIENT_PERMISSIONS";
    return Response.json({ statusCode: 403, errorCode, message }, { status: 403 });
  };
}

function handlerOptions(flags: ServeFlags): HandlerOptions {
  const { anonymous, basePath, serviceName, maxMatches, timeout, cors, publicUrl } = flags;
  const { maxConcurrent, maxWaiting, mcpHost, withoutTool, showSecrets } = flags;
  return {
    page: flags.page,
    mcp: {
      ...(mcpHost !== undefined && { allowedHosts: mcpHost }),
      ...(withoutTool !== undefined && { withoutTools: withoutTool }),
      ...(showSecrets && { secrets: "show" as const }),
    },
    metrics: flags.metrics,
    ...(anonymous !== undefined && { anonymous }),
    ...(basePath !== undefined && { basePath }),
    ...(publicUrl !== undefined && { publicUrl }),
    ...(serviceName !== undefined && { serviceName }),
    ...(maxMatches !== undefined && { maxMatches }),
    ...(maxConcurrent !== undefined && { maxConcurrent }),
    ...(maxWaiting !== undefined && { maxWaiting }),
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...(cors !== undefined && { cors: { origins: cors } }),
  };
}

function announce(address: string, { basePath = "", json, page }: ServeFlags, io: Io): void {
  const url = `http://${address}${basePath}`;
  if (json) printJson(io, { url });
  else
    io.stdout.write(
      `${page ? `search at ${url}/; ` : ""}quern answers at ${url}/api/search; Ctrl+C ends it\n`,
    );
}
