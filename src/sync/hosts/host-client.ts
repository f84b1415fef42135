/**
 * Requests JSON from the API of a code host. All hosts share one client, because the difficult parts are the same
 * everywhere. The client waits when a host asks it to wait (Retry-After, rate limits), and tries again after
 * transient failures. It follows only redirects that stay on the same host, because another host would receive the
 * token. It limits the size and the duration of each response, and removes secrets from error messages.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { JoinedSignal } from "../../base/joined-signal.ts";
import { aborted } from "../../base/abort.ts";
import { QuernError } from "../../base/errors.ts";
import { beyondJsonShape } from "../../base/json-shape.ts";
import { newPause } from "../../base/yield.ts";
import { redact } from "../config/secrets.ts";

export interface HostClientOptions {
  /** The address of the API. */
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The texts that are removed from error messages. */
  readonly secrets: readonly string[];
  readonly signal: AbortSignal;
  /** The maximum duration of a request, including its response, in milliseconds. */
  readonly timeoutMs: number;
  /** Called before each wait that the host has asked for. */
  readonly onWait: (host: string, ms: number) => void;
}

/** A response whose body was not read yet. `limit` ends the request if its body takes too long. */
interface Reply {
  readonly response: Response;
  readonly limit: JoinedSignal;
}

export interface Answer<T> {
  readonly value: T;
  readonly headers: Headers;
  /** The address that the response came from, after redirects. */
  readonly url: string;
}

/** The maximum number of bytes in one response. A page of 100 repositories has about 600 KB. */
const MOST_BYTES = 32 << 20;
/**
 * The maximum number of lists, objects and fields in one response. A page of 100 repositories has 5 000 to 15 000 of
 * them. A list of Azure DevOps, which is not split into pages, has about 20 for each repository. Parsing 100 000 of
 * them takes 10 ms.
 */
const MOST_VALUES = 100_000;
const MOST_REDIRECTS = 5;
/** The maximum number of successive failures of the host or the network. Between them the client waits 1, 2 and 4 s. */
const MOST_FAILURES = 3;
const FIRST_PAUSE_MS = 1_000;
/** The longest wait that a host may ask for. Hosts usually count the requests of one hour. */
const MOST_WAIT_MS = 65 * 60_000;
/** The maximum number of waits that a host may ask for during one request. */
const MOST_WAITS = 5;
/** The wait if a host reports a rate limit but does not say when it ends. */
const USUAL_WAIT_MS = 60_000;
/** The maximum number of pages of a list. A host whose list never ends is broken. */
const MOST_PAGES = 100_000;

/**
 * Returns the schema of a list. The check ends at the first wrong entry. Zod's own list schema creates an error for
 * each wrong entry, which costs 5 µs and 1 KB per entry.
 */
export const listOf = <T>(entry: z.ZodType<T>): z.ZodType<T[]> =>
  z
    .array(z.unknown())
    .transform(
      (items, context) =>
        checked(items.entries(), entry, context)?.map(([, item]) => item) ?? z.NEVER,
    );

/**
 * Returns the schema of an object whose fields all have the same schema. The check ends at the first wrong field. The
 * parsed value is a list of pairs of name and value.
 */
export const fieldsOf = <T>(entry: z.ZodType<T>): z.ZodType<[string, T][]> =>
  z
    .record(z.string(), z.unknown())
    .transform((fields, context) => checked(Object.entries(fields), entry, context) ?? z.NEVER);

/** Checks entries. At the first wrong entry, adds an issue to the context and returns undefined. */
function checked<K extends string | number, T>(
  items: Iterable<[K, unknown]>,
  entry: z.ZodType<T>,
  context: z.RefinementCtx,
): [K, T][] | undefined {
  const entries: [K, T][] = [];
  for (const [key, item] of items) {
    const { success, data, error } = entry.safeParse(item);
    if (!success) {
      context.addIssue({ code: "custom", path: [key, ...error.issues[0]!.path] });
      return undefined;
    }
    entries.push([key, data]);
  }
  return entries;
}

export class HostClient {
  readonly #options: HostClientOptions;
  readonly #origin: string;

  constructor(options: HostClientOptions) {
    this.#options = options;
    this.#origin = new URL(options.base).origin;
  }

  /**
   * Sends a request to one address. Rejects with SOURCE_NOT_FOUND if the address does not exist, and with
   * SOURCE_UNREADABLE after other failures of the host. `prefix` is the text before the JSON.
   */
  async get<T>(address: string, schema: z.ZodType<T>, prefix = ""): Promise<Answer<T>> {
    const { response, url, limit } = await this.#ask(address);
    const bytes = await this.#read({ response, limit }, url);
    const beyond = await beyondJsonShape(bytes, { pause: newPause(), mostValues: MOST_VALUES });
    if (beyond !== undefined) throw this.#unreadable(url, `returned too much: ${beyond}`);
    const text = bytes.toString("utf8");
    let value: unknown;
    try {
      value = JSON.parse(text.startsWith(prefix) ? text.slice(prefix.length) : text);
    } catch (cause) {
      throw this.#unreadable(url, "returned something other than JSON", { cause });
    }
    const checked = schema.safeParse(value);
    if (checked.success) return { value: checked.data, headers: response.headers, url };
    const [issue] = checked.error.issues;
    const place = issue?.path.map(String).join(".") || "the response";
    throw this.#unreadable(url, `returned an unexpected response: ${place} is not as expected`);
  }

  /** Yields all entries of a list. The header Link of each page contains the address of the next page. */
  async *list<T>(address: string, entry: z.ZodType<T>): AsyncGenerator<T> {
    const schema = listOf(entry);
    yield* this.pages(address, schema, ({ value, headers }) => ({
      entries: value,
      next: nextLink(headers),
    }));
  }

  /** Yields all entries of a list. `parsePage` returns the entries of a page, and the address of the next page. */
  async *pages<T, Page>(
    address: string,
    schema: z.ZodType<Page>,
    parsePage: (answer: Answer<Page>) => { entries: readonly T[]; next: string | undefined },
  ): AsyncGenerator<T> {
    let at: string | undefined = address;
    for (let page = 0; at !== undefined; page++) {
      if (page >= MOST_PAGES) throw this.#unreadable(at, `has more than ${MOST_PAGES} pages`);
      const answer: Answer<Page> = await this.get(at, schema);
      const { entries, next } = parsePage(answer);
      yield* entries;
      at = next === undefined ? undefined : this.#turned(new URL(next, answer.url), answer.url);
    }
  }

  /**
   * Returns the address of the next page, which is always on this host. If the client reaches the host under another
   * name, links still contain the host's own name. The client uses only the query of such a link.
   */
  #turned(next: URL, from: string): string {
    const own = new URL(from);
    own.search = next.search;
    const address = next.origin === this.#origin ? next.href : own.href;
    if (address === from)
      throw this.#unreadable(from, "returned a page that links to itself as the next page");
    return address;
  }

  async #ask(address: string): Promise<Reply & { readonly url: string }> {
    let url = this.#own(new URL(address), this.#options.base);
    let failures = 0;
    let waits = 0;
    for (let redirects = 0; ;) {
      const reply = await this.#fetch(url, ++failures);
      if (reply === undefined) continue;
      const { response } = reply;
      const { status, headers } = response;
      const location = headers.get("location");
      if (status === 200) return { ...reply, url };
      if ([301, 302, 307, 308].includes(status) && location !== null) {
        await drop(reply);
        if (++redirects > MOST_REDIRECTS) throw this.#unreadable(url, "redirects endlessly");
        url = this.#own(new URL(location, url), url);
        failures = 0;
        continue;
      }
      const ms = waitAsked(response);
      if (ms !== undefined && ++waits <= MOST_WAITS) {
        await drop(reply);
        await this.#wait(url, ms);
        failures = 0;
      } else if (status >= 500 && failures <= MOST_FAILURES) {
        await drop(reply);
        await this.#pause(FIRST_PAUSE_MS * 2 ** (failures - 1));
      } else throw await this.#refused(reply, url);
    }
  }

  /** Sends a request once. Resolves to undefined after a transient failure, so that the caller tries again. */
  async #fetch(url: string, attempt: number): Promise<Reply | undefined> {
    const { headers, signal, timeoutMs } = this.#options;
    if (signal.aborted) throw aborted(signal);
    const limit = new JoinedSignal([signal], timeoutMs);
    try {
      const accept = { accept: "application/json", "user-agent": "quern" };
      const response = await fetch(url, {
        headers: { ...accept, ...headers },
        redirect: "manual",
        signal: limit.signal,
      });
      return { response, limit };
    } catch (cause) {
      limit[Symbol.dispose]();
      if (signal.aborted) throw aborted(signal);
      const why = limit.isLate ? `did not respond within ${timeoutMs / 1_000} s` : reasonOf(cause);
      if (attempt > MOST_FAILURES || isFinal(cause))
        throw this.#unreadable(url, `cannot be reached: ${why}`);
      await this.#pause(FIRST_PAUSE_MS * 2 ** (attempt - 1));
      return undefined;
    }
  }

  async #read({ response, limit }: Reply, url: string): Promise<Buffer> {
    using _limit = limit;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const chunk of response.body ?? []) {
        bytes += chunk.length;
        if (bytes > MOST_BYTES) break;
        chunks.push(chunk);
      }
    } catch (cause) {
      if (this.#options.signal.aborted) throw aborted(this.#options.signal);
      throw this.#unreadable(url, `aborted its response: ${reasonOf(cause)}`);
    }
    if (bytes > MOST_BYTES) throw this.#unreadable(url, `returned more than ${MOST_BYTES} bytes`);
    return Buffer.concat(chunks);
  }

  /** Returns the address if it belongs to this host, and throws SOURCE_UNREADABLE if not. */
  #own(url: URL, from: string): string {
    if (url.origin === this.#origin) return url.href;
    const where = `${url.origin}${url.pathname}`;
    throw this.#unreadable(
      from,
      `redirects to ${where}, where the token must not be sent; use the new address in the configuration`,
    );
  }

  async #wait(url: string, ms: number): Promise<void> {
    const { host } = new URL(url);
    const minutes = Math.ceil(ms / 60_000);
    if (ms > MOST_WAIT_MS)
      throw this.#unreadable(url, `wants a wait of ${minutes} minutes; sync again after that`);
    this.#options.onWait(host, ms);
    await this.#pause(ms);
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#options;
    await sleep(ms, undefined, { signal }).catch(() => {
      throw aborted(signal);
    });
  }

  async #refused(reply: Reply, url: string): Promise<QuernError> {
    const { status } = reply.response;
    const said = await this.#read(reply, url).then(saidIn, () => "");
    const words = said === "" ? "" : ` (${said})`;
    if (status === 404) {
      const message = `there is no ${printableUrl(url)}${words}, or the token may not read it`;
      return new QuernError("SOURCE_NOT_FOUND", this.#told(message));
    }
    return this.#unreadable(url, `${meaningOf(status)}${words}`);
  }

  #unreadable(url: string, what: string, options: { cause?: unknown } = {}): QuernError {
    return new QuernError("SOURCE_UNREADABLE", this.#told(`${printableUrl(url)} ${what}`), options);
  }

  #told(message: string): string {
    return redact(message, this.#options.secrets);
  }
}

/** Ends a response whose body is not read. */
async function drop({ response, limit }: Reply): Promise<void> {
  limit[Symbol.dispose]();
  await response.body?.cancel();
}

function meaningOf(status: number): string {
  if (status === 401 || status === 203 || status === 302)
    return `rejected the token with ${status}: it is missing, wrong or expired`;
  if (status === 403) return "returned 403: the token does not permit this; check its scopes";
  if (status === 429) return "still reports too many requests after several waits";
  return `returned status ${status}`;
}

/** Returns the address without its query, for messages. */
const printableUrl = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
};

/**
 * Resolves to the first 200 characters of the message in an error response, or to an empty text if it has no message.
 */
async function saidIn(bytes: Buffer): Promise<string> {
  if (await beyondJsonShape(bytes, { pause: newPause() })) return "";
  try {
    const body = z.object({ message: z.string() }).safeParse(JSON.parse(bytes.toString("utf8")));
    return body.success ? body.data.message.replace(/\p{Cc}/gu, " ").slice(0, 200) : "";
  } catch {
    return "";
  }
}

function reasonOf(thrown: unknown): string {
  const { cause, message } = thrown as Error;
  return cause instanceof Error
    ? cause.message || String((cause as { code?: string }).code)
    : message;
}

/** True if the error would occur again with another attempt, as with an unknown host or a wrong certificate. */
function isFinal(thrown: unknown): boolean {
  const code = ((thrown as Error).cause as { code?: string } | undefined)?.code ?? "";
  return code === "ENOTFOUND" || code.startsWith("ERR_TLS") || code.includes("CERT");
}

/** Returns how long the host asks the client to wait, in milliseconds. Returns undefined if it asks for no wait. */
export function waitAsked(
  { status, headers }: Pick<Response, "status" | "headers">,
  now = Date.now(),
) {
  if (status !== 429 && status !== 403 && status !== 503) return undefined;
  const after = headers.get("retry-after");
  if (after !== null) return retryAfter(after, now);
  const left = headers.get("x-ratelimit-remaining") ?? headers.get("ratelimit-remaining");
  if (status === 429 || (status === 403 && left !== null && Number(left) === 0)) {
    const reset = headers.get("x-ratelimit-reset") ?? headers.get("ratelimit-reset");
    return reset === null ? USUAL_WAIT_MS : untilReset(Number(reset), now);
  }
  return undefined;
}

/** Converts the header Retry-After, which is a number of seconds or a date, to milliseconds from now. */
function retryAfter(text: string, now: number): number {
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : USUAL_WAIT_MS;
}

/**
 * Converts the end of a rate limit to milliseconds from now. Most hosts send it as seconds since 1970. Some hosts
 * send a small number of seconds from now.
 */
function untilReset(seconds: number, now: number): number {
  if (!Number.isFinite(seconds)) return USUAL_WAIT_MS;
  const ms = seconds > 1e9 ? seconds * 1_000 - now : seconds * 1_000;
  return Math.max(0, ms) + 1_000; // allows for a difference between the clocks
}

export function nextLink(headers: Headers): string | undefined {
  const link = headers.get("link") ?? "";
  for (const [, address, parameters] of link.matchAll(/<([^>]*)>([^,<]*)/g))
    if (/;\s*rel="?(?:[^"]*\s)?next(?:\s[^"]*)?"?\s*(?:;|$)/i.test(parameters!)) return address;
  return undefined;
}
