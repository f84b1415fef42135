/** Defines the options of a handler, with defaults and limits. They are checked once, when the handler is created. */

import type { AuditStore } from "../auth/audit-store.ts";
import type { Principal } from "../auth/principal.ts";
import { DEFAULT_PREFIXES, type SecretFormat, type TokenPrefixes } from "../auth/secrets.ts";
import type { TokenStore } from "../auth/token-store.ts";
import type { UserStore } from "../auth/user-store.ts";
import { QuernError } from "../base/errors.ts";
import { checkKeys, type KeysOf } from "../base/known-keys.ts";
import { mustBe, valueText, wholeNumber } from "../base/must-be.ts";
import { checkShownSecrets, checkToolNames } from "../mcp/tool-names.ts";

/**
 * Options of createHandler().
 *
 * @example
 * const options: HandlerOptions = { tokens, users, anonymous: "public", timeoutMs: 5_000 };
 * const handler = createHandler(engine, options);
 */
export interface HandlerOptions {
  /**
   * The store of API keys and scoped tokens. Without this store, there are no such credentials, and the routes for
   * scoped tokens answer 404.
   */
  tokens?: TokenStore;
  /**
   * The store of users. Without this store, the owner of a token is only an id, and the route that lists users
   * answers 404.
   */
  users?: UserStore;
  /** What callers without a credential may search: nothing, public repositories, or everything. Default false. */
  anonymous?: false | "public" | "all";
  /**
   * Authenticates a request by credentials of the host program, such as a session or OAuth. If this resolves to
   * `undefined`, API keys and tokens are tried next. If this throws, the response is 401. Called when a request
   * arrives, and again before each response is sent.
   */
  authenticate?: (request: Request) => Promise<Principal | undefined>;
  /** The path that comes before /api. Default ''. */
  basePath?: string;
  /** The name in the header X-<serviceName>-Api-Key. Default 'Quern'. */
  serviceName?: string;
  /** Serves the search page at basePath + '/'. Default false. */
  page?: boolean;
  /** The prefixes of API keys and scoped tokens. Default 'qrn_' and 'qst_'. */
  tokenPrefixes?: TokenPrefixes;
  /**
   * The key with which secrets are hashed (HMAC-SHA-256) before they are stored. By default, there is no key, and the
   * plain SHA-256 of a secret is stored.
   */
  hmacKey?: string | Uint8Array;
  /** The time after which a scoped token expires, in milliseconds. Default 3 600 000. */
  scopedTokenTtlMs?: number;
  /** The maximum number of ranges that a search may ask for. Default 100 000. */
  maxMatches?: number;
  /**
   * The maximum number of bytes of text, positions and names in the response to a search. See SearchOptions.maxBytes.
   * Default 128 MiB.
   */
  maxAnswerBytes?: number;
  /** The maximum number of bytes of a request's body. Default 1 MiB. */
  maxBodyBytes?: number;
  /** The time after which a search returns what it has found so far, in milliseconds. Default 10 000. */
  timeoutMs?: number;
  /**
   * The maximum number of simultaneous searches. A search counts until its response has been read. Further searches
   * wait (see `maxWaiting`). Default 64. If `tokens` or `authenticate` is set, callers without a credential can use only three
   * quarters of this number.
   */
  maxConcurrent?: number;
  /**
   * The maximum number of searches that wait until one of `maxConcurrent` has ended. A search waits for at most 10 s.
   * Further searches are rejected. Default 256.
   */
  maxWaiting?: number;
  /**
   * Returns a key that tells callers without a user apart, such as the address that a trusted proxy has forwarded.
   * Callers with the same key share one part of `maxConcurrent`. Default: the address of the connection, if the request
   * comes from toNodeListener(); otherwise all such callers have the same key. If it returns `undefined`, the default
   * applies.
   */
  clientKey?: (request: Request) => string | undefined;
  /**
   * The store of audit records. Searches, reads, changes of tokens and members, and rejected credentials are
   * recorded. By default, nothing is recorded, and the route that lists records answers 404.
   */
  audits?: AuditStore;
  /**
   * Connections to code hosts, with the names of their repositories. The iterable is read again for each request that
   * needs it. Default: none.
   */
  connections?: Iterable<Connection>;
  /**
   * Called for each delivery to POST /api/webhook/{connection}. SyncService.webhook is such a function. By default,
   * the route answers 404.
   */
  webhook?: (
    connection: string,
    delivery: {
      /** The request's headers. */
      headers: Headers;
      /** The request's body, as received. */
      body: Uint8Array;
    },
  ) => Promise<"queued" | "ignored" | "refused">;
  /**
   * The address of this service as clients see it, such as 'https://code.example.com'. The absolute addresses in
   * webUrl and Link begin with it. Default: the origin of the request.
   */
  publicUrl?: string;
  /**
   * Called for a request once its outcome is known. Not called if a route that anyone may use succeeds, such as health.
   * Never receives a secret.
   */
  audit?: (event: AuditEvent) => void;
  /**
   * Serves the Model Context Protocol at basePath + '/api/mcp', for agents. Default false, but true in `quern serve`.
   */
  mcp?: boolean | McpMount;
  /**
   * Serves metrics for Prometheus at basePath + '/api/metrics', to owners of the organization or to anyone. The
   * metrics contain counts and durations, but no names. By default, they are not served. The default of `quern serve`
   * is 'owners'.
   */
  metrics?: "owners" | "anyone";
  /** The web origins whose pages may call this service. Default: none. */
  cors?: {
    /** Exact origins such as 'https://example.com', or '*' for all. */
    origins: string[];
  };
}

/**
 * Host names under which agents may reach a handler, origins of pages that may call it, and tools that it leaves out.
 *
 * @example
 * const mcp: McpMount = { allowedHosts: ["code.example.com"] };
 * const handler = createHandler(engine, { anonymous: "all", mcp });
 */
export interface McpMount {
  /**
   * Host names of the server, without ports; '*' accepts any. This machine's own names and addresses, and the host of
   * `publicUrl`, are always accepted. By default, any name is accepted. But if `anonymous` is "all", callers without
   * a credential may use only the names that are always accepted.
   */
  allowedHosts?: string[];
  /**
   * Web origins whose pages may call the handler, in addition to the server's own origin and the origins in `cors`.
   * Default: none.
   */
  allowedOrigins?: string[];
  /**
   * Names of tools that agents do not get, such as 'history'. Without 'read', files are not offered as resources,
   * either. Default: none.
   */
  withoutTools?: string[];
  /**
   * Whether agents see files and values that look like secrets. If they are hidden, such a file does not exist in any
   * answer or count, and such a value is masked and cannot be searched. Default 'hide', but 'show' for clusters and for
   * engines whose methods a host has replaced, which cannot hide them.
   */
  secrets?: "hide" | "show";
}

/**
 * A connection to a code host, for clients that ask where repositories come from.
 *
 * @example
 * const connections: Connection[] = [
 *   { id: 1, name: "acme", connectionType: "github", repositories: ["github.com/acme/shop"] },
 * ];
 * const handler = createHandler(engine, { anonymous: "all", connections });
 */
export interface Connection {
  /** The id by which requests name the connection. */
  id: number;
  /** A name for people. */
  name: string;
  /** The type of the code host, which is github, gitlab, gitea, gerrit, bitbucket, azuredevops or git. */
  connectionType: string;
  /**
   * Names of the connection's repositories, as in Repository.name. A frozen array is processed only once. Anything
   * else is processed again at each request.
   */
  repositories: Iterable<string>;
}

/**
 * The outcome of a request.
 *
 * @example
 * const audit = ({ at, action, outcome, userId }: AuditEvent): void =>
 *   console.log(at.toISOString(), action, outcome, userId);
 * const handler = createHandler(engine, { tokens, audit });
 */
export interface AuditEvent {
  /** When the request arrived. */
  at: Date;
  /** The name of the operation in the OpenAPI document. */
  action: string;
  /** 'denied' for 401 and 403, 'failed' for any other status from 400 up. */
  outcome: "ok" | "denied" | "failed";
  /** The id of the user to whom the credential belongs, if the credential was valid. */
  userId?: string;
  /** TokenRecord.id, if the credential was a stored token. */
  tokenId?: string;
  /** The HTTP status. */
  status: number;
  /** The error that was thrown, for UNEXPECTED_ERROR. */
  detail?: unknown;
}

const NUMBERS = {
  scopedTokenTtlMs: { fallback: 3_600_000, least: 1, most: 366 * 86_400_000 },
  maxMatches: { fallback: 100_000, least: 0, most: Number.MAX_SAFE_INTEGER },
  maxAnswerBytes: { fallback: 128 << 20, least: 0, most: Number.MAX_SAFE_INTEGER },
  maxBodyBytes: { fallback: 1 << 20, least: 0, most: 1 << 30 },
  timeoutMs: { fallback: 10_000, least: 1, most: 2 ** 31 - 1 },
  maxConcurrent: { fallback: 64, least: 1, most: Number.MAX_SAFE_INTEGER },
  maxWaiting: { fallback: 256, least: 0, most: 100_000 },
} as const;

const OPTIONS: KeysOf<HandlerOptions> = {
  tokens: true,
  users: true,
  anonymous: true,
  authenticate: true,
  clientKey: true,
  basePath: true,
  page: true,
  serviceName: true,
  tokenPrefixes: true,
  hmacKey: true,
  audits: true,
  connections: true,
  webhook: true,
  publicUrl: true,
  audit: true,
  mcp: true,
  metrics: true,
  cors: true,
  scopedTokenTtlMs: true,
  maxMatches: true,
  maxAnswerBytes: true,
  maxBodyBytes: true,
  timeoutMs: true,
  maxConcurrent: true,
  maxWaiting: true,
};

type Numbers = { readonly [Name in keyof typeof NUMBERS]: number };

/** The options with every default filled in. */
export interface Settings extends Numbers {
  readonly tokens?: TokenStore;
  readonly users?: UserStore;
  readonly anonymous: false | "public" | "all";
  readonly authenticate?: (request: Request) => Promise<Principal | undefined>;
  readonly clientKey?: (request: Request) => string | undefined;
  readonly basePath: string;
  readonly serviceName: string;
  readonly apiKeyHeader: string;
  readonly page: boolean;
  readonly secrets: SecretFormat;
  readonly audit?: (event: AuditEvent) => void;
  readonly origins: ReadonlySet<string>;
  readonly mcp: false | McpMount;
  readonly metrics?: "owners" | "anyone";
  readonly audits?: AuditStore;
  readonly connections: () => Iterable<Connection>;
  readonly webhook?: NonNullable<HandlerOptions["webhook"]>;
  /** The address of the service, without a slash at its end. */
  readonly publicUrl?: string;
}

export function checkOptions(options: HandlerOptions): Settings {
  checkKeys({ call: "createHandler", what: "option" }, options, OPTIONS);
  const { tokens, users, authenticate, audit } = options;
  const anonymous = options.anonymous ?? false;
  if (![false, "public", "all"].includes(anonymous))
    refuse("anonymous must be false, 'public' or 'all'");
  if (![undefined, "owners", "anyone"].includes(options.metrics))
    refuse("metrics must be 'owners' or 'anyone'");
  if (tokens === undefined && anonymous === false && authenticate === undefined)
    refuse("no caller could ever search: set tokens, authenticate or anonymous");
  const serviceName = checkServiceName(options.serviceName ?? "Quern");
  return {
    ...(tokens && { tokens }),
    ...(users && { users }),
    ...(authenticate && { authenticate }),
    ...(options.clientKey && { clientKey: options.clientKey }),
    ...(audit && { audit }),
    anonymous,
    basePath: checkBasePath(options.basePath ?? ""),
    serviceName,
    apiKeyHeader: `X-${serviceName}-Api-Key`,
    page: options.page ?? false,
    secrets: checkSecrets(options),
    origins: checkOrigins(options.cors),
    mcp: checkMcp(options.mcp),
    ...(options.metrics && { metrics: options.metrics }),
    ...(options.audits && { audits: options.audits }),
    connections: () => options.connections ?? [],
    ...(options.webhook && { webhook: options.webhook }),
    ...(options.publicUrl !== undefined && { publicUrl: checkPublicUrl(options.publicUrl) }),
    ...checkNumbers(options),
  };
}

function checkNumbers(options: HandlerOptions): Numbers {
  const entries = Object.entries(NUMBERS).map(([name, { fallback, least, most }]) => {
    const value = options[name as keyof Numbers] ?? fallback;
    if (!Number.isInteger(value) || value < least || value > most)
      refuse(mustBe(name, wholeNumber(least, most), value));
    return [name, value];
  });
  return Object.fromEntries(entries) as Numbers;
}

function checkMcp(mcp: HandlerOptions["mcp"]): false | McpMount {
  if (mcp === undefined || mcp === false) return false;
  if (mcp === true) return {};
  if (typeof mcp !== "object") return refuse("mcp must be true, false or an object");
  checkKeys({ call: "createHandler: mcp", what: "option" }, mcp, MOUNT);
  for (const [name, value] of Object.entries(mcp))
    if (value !== undefined && !isListOfText(value))
      refuse(`mcp.${name} must be an array of non-empty strings`);
  checkToolNames("createHandler: mcp.withoutTools", mcp.withoutTools ?? []);
  checkShownSecrets("createHandler: mcp.secrets", mcp.secrets);
  return mcp;
}

const MOUNT: KeysOf<McpMount> = {
  allowedHosts: true,
  allowedOrigins: true,
  withoutTools: true,
  secrets: true,
};

const isListOfText = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === "string" && one !== "");

/** Whether a text is what a browser sends as its origin: scheme and host, and no path, not even a slash. */
const isOrigin = (text: unknown): boolean =>
  typeof text === "string" && URL.canParse(text) && new URL(text).origin === text;

function checkOrigins(cors: HandlerOptions["cors"]): ReadonlySet<string> {
  if (cors === undefined) return new Set();
  checkKeys({ call: "createHandler: cors", what: "option" }, cors, { origins: true });
  if (!Array.isArray(cors.origins)) refuse("cors.origins must be an array of origins");
  const wrong = cors.origins.find((origin) => origin !== "*" && !isOrigin(origin));
  if (wrong !== undefined)
    refuse(
      `cors.origins must contain origins such as 'https://example.com', or '*', not ${valueText(wrong)}`,
    );
  return new Set(cors.origins);
}

function checkBasePath(path: string): string {
  if (!/^(\/[\w.~-]+)*\/?$/.test(path))
    refuse("basePath must be empty or like /code: segments of letters, digits and . _ ~ -");
  return path.replace(/\/$/, "");
}

function checkPublicUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isPlain = parsed && /^https?:$/.test(parsed.protocol) && parsed.search + parsed.hash === "";
  if (!isPlain || parsed.username + parsed.password !== "")
    refuse(`publicUrl must be like https://code.example.com, got ${JSON.stringify(url)}`);
  return parsed.href.replace(/\/+$/, "");
}

function checkServiceName(name: string): string {
  if (!/^[A-Za-z0-9-]+$/.test(name)) refuse("serviceName must be letters, digits and dashes");
  return name;
}

function checkSecrets({ tokenPrefixes, hmacKey }: HandlerOptions): SecretFormat {
  if (tokenPrefixes)
    checkKeys(
      { call: "createHandler: tokenPrefixes", what: "option" },
      tokenPrefixes,
      DEFAULT_PREFIXES,
    );
  const prefixes = { ...DEFAULT_PREFIXES, ...tokenPrefixes };
  for (const prefix of [prefixes.apiKey, prefixes.scoped])
    if (!/^[!-+\--~]*$/.test(prefix)) refuse("tokenPrefixes must be visible ASCII without commas");
  if (prefixes.apiKey === prefixes.scoped) refuse("tokenPrefixes must differ from each other");
  if (hmacKey?.length === 0) refuse("hmacKey must not be empty");
  return { prefixes, ...(hmacKey !== undefined && { hmacKey }) };
}

function refuse(message: string): never {
  throw new QuernError("INVALID_REQUEST", message);
}
