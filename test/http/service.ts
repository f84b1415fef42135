/** A service to test: an engine with a few repositories, users with keys, and a handler over them. */

import { memoryAuditStore } from "../../src/auth/audit-store.ts";
import { createApiKey } from "../../src/auth/secrets.ts";
import { memoryTokenStore, type TokenStore } from "../../src/auth/token-store.ts";
import { memoryUserStore, type User, type UserStore } from "../../src/auth/user-store.ts";
import type { Engine } from "../../src/engine.ts";
import { createHandler, type Handler } from "../../src/http/handler.ts";
import type { AuditEvent, HandlerOptions } from "../../src/http/options.ts";
import { openEngine, type Fixture } from "./engine.ts";

export const FIXTURES: Fixture[] = [
  {
    name: "acme/open",
    public: true,
    webUrl: "https://github.com/acme/open",
    codeHostType: "github",
    displayName: "Open Tools",
    pushedAt: new Date("2025-03-01T00:00:00.000Z"),
    files: {
      "README.md": "# Open\n\nneedle in the open\n",
      "src/a.ts":
        "export function needle(): number {\n  return 1;\n}\nconst needles = needle() + needle();\n",
      "src/deep/b.ts": "import { needle } from '../a';\nneedle();\n",
      "src/deep/c.c": "int needle(void);\n",
      "lib/z.txt": "zzz\n",
    },
  },
  {
    name: "acme/secret",
    fork: true,
    pushedAt: new Date("2025-01-01T00:00:00.000Z"),
    files: { "plan.md": "the needle is ours\n", "src/a.ts": "function needle() {}\n" },
  },
  { name: "acme/other", archived: true, files: { "x.txt": "another needle\n" } },
];

/** The connections of the service. The second has none of FIXTURES. */
const CONNECTIONS = [
  { id: 7, name: "hub", connectionType: "github", repositories: ["acme/open", "acme/secret"] },
  { id: 1, name: "forge", connectionType: "gitlab", repositories: ["other/gone"] },
];

export const NOW = new Date("2025-06-01T00:00:00.000Z");

export const person = (id: string, fields: Partial<User> = {}): User => ({
  id,
  name: id,
  email: `${id}@example.com`,
  role: "MEMBER",
  suspendedAt: null,
  createdAt: NOW,
  updatedAt: NOW,
  lastActivityAt: null,
  ...fields,
});

export interface Client {
  (path: string, init?: RequestInit): Promise<Response>;
}

export interface Service {
  engine: Engine;
  tokens: TokenStore;
  users: UserStore;
  handler: Handler;
  events: AuditEvent[];
  /** Repository ids by name. */
  ids: Record<string, number>;
  /** What each user may see. A user without an entry sees everything. */
  visible: Map<string, ReadonlySet<number>>;
  /** The keys of an owner and of two members, and a second key of the first member. */
  keys: { owner: string; ada: string; ada2: string; bob: string };
}

/** An engine with FIXTURES. Tests do not change it; a test with changes opens its own engine. */
let shared: Promise<Engine> | undefined;

/** Starts a service. `engine` replaces the shared engine. */
export async function startService(
  options: Partial<HandlerOptions> = {},
  engine?: Engine,
): Promise<Service> {
  engine ??= await (shared ??= openEngine(FIXTURES));
  const repositories = await engine.repositories();
  const tokens = options.tokens ?? memoryTokenStore();
  const visible = new Map<string, ReadonlySet<number>>();
  const users: UserStore = {
    ...(options.users ?? memoryUserStore()),
    visibleRepositories: async ({ id }) => visible.get(id) ?? "all",
  };
  await users.put(person("owner", { role: "OWNER" }));
  await users.put(person("ada"));
  await users.put(person("bob"));
  const key = async (ownerId: string) => (await createApiKey(tokens, { ownerId })).secret;
  const keys = {
    owner: await key("owner"),
    ada: await key("ada"),
    ada2: await key("ada"),
    bob: await key("bob"),
  };
  const events: AuditEvent[] = [];
  const audit = (event: AuditEvent) => void events.push(event);
  const audits = memoryAuditStore();
  const defaults = { audit, audits, connections: CONNECTIONS, metrics: "owners" } as const;
  const handler = createHandler(engine, { ...defaults, ...options, tokens, users });
  const ids = Object.fromEntries(repositories.map(({ name, id }) => [name, id]));
  return { engine, tokens, users, handler, events, ids, visible, keys };
}

export const bearer = (secret: string): Record<string, string> => ({
  Authorization: `Bearer ${secret}`,
});

/** Calls a handler as a client would. */
export const clientOf =
  (handler: Handler): Client =>
  (path, init) =>
    handler(new Request(`http://host${path}`, init));

export const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  body: typeof body === "string" ? body : JSON.stringify(body),
  headers: { "Content-Type": "application/json", ...headers },
});

export async function mint(service: Service, secret: string, repoIds: number[]) {
  const init = post({ repoIds }, bearer(secret));
  const response = await clientOf(service.handler)("/api/ee/scoped_access_token", init);
  return (await response.json()) as { id: string; token: string; expiresAt: string };
}
