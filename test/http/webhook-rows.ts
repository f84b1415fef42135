/** Deliveries of webhooks to the service that `quern serve --sync` runs next to the handler. */

import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { QuernError } from "../../src/base/errors.ts";
import { open } from "../../src/opened-engine.ts";
import type { HandlerOptions } from "../../src/http/options.ts";
import { type ConnectionConfig, startSync } from "../../src/sync/index.ts";
import { serveHost } from "../sync/host-servers.ts";
import { commit, startRemotes } from "../sync/remotes.ts";
import type { Row } from "./rows.ts";

type Webhook = NonNullable<HandlerOptions["webhook"]>;

const SECRET = "webhook-secret-0123";

/** Starts a code host with a repository, and the service that follows it. */
export async function startDeliveries(): Promise<{ webhook: Webhook } & AsyncDisposable> {
  const remotes = await startRemotes();
  const host = serveHost(remotes, "gitea");
  commit(remotes.root, "acme/shop", { "a.ts": "needle\n" });
  host.repositories = [{ id: 1, path: "acme/shop" }];
  const folder = mkdtempSync(join(tmpdir(), "quern-deliveries-"));
  const engine = await open(join(folder, "index"), { workers: 0 });
  const forge: ConnectionConfig = {
    type: "gitea",
    url: remotes.url,
    orgs: ["acme"],
    webhook: { secret: { env: "HOOK" } },
  };
  const service = startSync(engine, { connections: { forge } }, { env: { HOOK: SECRET } });
  return {
    webhook: async (connection, delivery) => {
      const error = FAILS[connection];
      if (error) throw error;
      return service.webhook(connection, delivery);
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await engine.close();
      remotes.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const SECRET_PATH = "cannot read /srv/secret/records.json";

/** Connections at which the service fails. */
const FAILS: Readonly<Record<string, Error>> = {
  broken: new Error(SECRET_PATH),
  closed: new QuernError("ENGINE_CLOSED", SECRET_PATH),
};

const PUSH = JSON.stringify({ ref: "refs/heads/main", repository: { id: 1 } });

interface Sent {
  connection?: string;
  event?: string;
  body?: string;
  secret?: string;
  headers?: Record<string, string>;
}

const delivers =
  ({ connection = "forge", event = "push", body = PUSH, secret = SECRET, headers }: Sent) =>
  (): [string, RequestInit] => {
    const signature = createHmac("sha256", secret).update(body).digest("hex");
    const signed = { "x-gitea-event": event, "x-gitea-signature": signature };
    return [
      `/api/webhook/${connection}`,
      { method: "POST", body, headers: { ...signed, ...headers } },
    ];
  };

const taken = (name: string, sent: Sent, status: "queued" | "ignored"): Row => ({
  name: `a delivery: ${name}`,
  operation: ["post", "/api/webhook/{connection}"],
  request: delivers(sent),
  status: 202,
  check: (body: object) => expect(body).toEqual({ status }),
});

const refused = (name: string, sent: Sent, status: number, code: Row["code"]): Row => ({
  name: `a delivery: ${name}`,
  operation: ["post", "/api/webhook/{connection}"],
  request: delivers(sent),
  status,
  code: code!,
  check: ({ message }: { message: string }) => expect(message).not.toContain("/srv/secret"),
});

const LARGE = "x".repeat((4 << 20) + 1);

export const WEBHOOK_ROWS: Row[] = [
  taken("a push", {}, "queued"),
  taken("a push of a repository that is not known", { body: '{"repository":{"id":9}}' }, "queued"),
  taken("a push that somebody sends again", {}, "queued"),
  taken("news of the list", { event: "repository" }, "queued"),
  taken("news of something else", { event: "issues" }, "ignored"),
  taken("no JSON, signed", { body: "no JSON" }, "ignored"),
  taken(
    "together with an invalid credential",
    { headers: { authorization: "Bearer qrn_no" } },
    "queued",
  ),
  refused("another secret", { secret: "other" }, 401, "NOT_AUTHENTICATED"),
  refused("no signature", { headers: { "x-gitea-signature": "" } }, 401, "NOT_AUTHENTICATED"),
  refused("for a connection that is not there", { connection: "none" }, 401, "NOT_AUTHENTICATED"),
  refused("over 4 MiB", { body: LARGE }, 413, "BODY_TOO_LARGE"),
  refused("a service that breaks", { connection: "broken" }, 500, "UNEXPECTED_ERROR"),
  refused("a service that is closed", { connection: "closed" }, 503, "OVERLOADED"),
];
