/**
 * Calls the public routes of the server. An API key is kept only in the browser's session storage. It is sent in a
 * header, and never in an address.
 */

import type {
  Blame,
  Commit,
  Diff,
  Explanation,
  FindAnswer,
  FindRequest,
  Repository,
  Revision,
  SearchAnswer,
  SearchRequest,
  Source,
  StreamEvent,
  SymbolAnswer,
  TreeNode,
} from "./answers.ts";
import { readEvents } from "./events.ts";

/**
 * Thrown if the server refuses a request. If the response has no error code, such as the error page of a proxy,
 * `code` is empty.
 */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface Listed<T> {
  items: T[];
  /** The number of items on all pages. */
  total: number;
}

export interface FileAddress {
  repository: string;
  path: string;
  /** The name of the revision. Default: the default revision. */
  ref?: string | undefined;
}

export interface SymbolRequest {
  symbolName: string;
  language?: string;
  repoName?: string;
  revisionName?: string;
  /** The path of the file that names the symbol, and the place of the name. */
  fileName?: string;
  line?: number;
  column?: number;
  after?: string;
}

/** The methods of a browser's storage that the client uses. */
export interface KeyStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

export interface ClientOptions {
  /** The address of the folder that contains `api/…`, with a slash at its end. */
  root: string;
  /** The name of the service. It is a part of the name of the header that contains the key. */
  service: string;
  /** The storage that keeps the key. */
  storage: KeyStorage;
  /** Called when the server refuses a request because it lacks a valid key. */
  onRefused: () => void;
}

const KEY = "quern-api-key";

export type Client = ReturnType<typeof createClient>;

export function createClient(options: ClientOptions) {
  const { get, post } = sender(options);
  const { storage } = options;

  return {
    hasKey: () => storage.getItem(KEY) !== null,
    setKey: (key: string | undefined): void =>
      key === undefined ? storage.removeItem(KEY) : storage.setItem(KEY, key),

    search: async (body: SearchRequest, signal?: AbortSignal): Promise<SearchAnswer> =>
      read(await post("api/search", body, signal)),
    stream: async function* (body: SearchRequest, signal: AbortSignal) {
      const response = await post("api/stream_search", body, signal);
      if (response.body !== null) yield* readEvents<StreamEvent>(response.body);
    },
    explain: async (body: SearchRequest, signal?: AbortSignal): Promise<Explanation> =>
      read(await post("api/explain", body, signal)),

    find: async (body: FindRequest, signal?: AbortSignal): Promise<FindAnswer> =>
      read(await post("api/find", body, signal)),

    repositories: async (
      query: { query?: string; page?: number; perPage?: number },
      signal?: AbortSignal,
    ): Promise<Listed<Repository>> => listed(await get("api/repos", query, signal)),
    revisions: async (repo: string, signal?: AbortSignal): Promise<Revision[]> =>
      read(await get("api/revisions", { repo }, signal)),

    source: async ({ repository, path, ref }: FileAddress, signal?: AbortSignal): Promise<Source> =>
      read(await get("api/source", { repo: repository, path, ref }, signal)),
    tree: async (
      {
        repository,
        ref = "HEAD",
        paths,
      }: { repository: string; ref?: string | undefined; paths: string[] },
      signal?: AbortSignal,
    ): Promise<TreeNode> => {
      const body = { repoName: repository, revisionName: ref, paths };
      return (await read<{ tree: TreeNode }>(await post("api/tree", body, signal))).tree;
    },

    commits: async (
      query: {
        repo: string;
        ref?: string | undefined;
        path: string;
        query: string;
        author: string;
        page: number;
        perPage: number;
      },
      signal?: AbortSignal,
    ): Promise<Listed<Commit>> => listed(await get("api/commits", query, signal)),
    commit: async (
      query: { repo: string; ref: string },
      signal?: AbortSignal,
    ): Promise<Commit & { parents: string[] }> => read(await get("api/commit", query, signal)),
    diff: async (
      query: { repo: string; base: string; head: string },
      signal?: AbortSignal,
    ): Promise<Diff[]> =>
      (await read<{ files: Diff[] }>(await get("api/diff", query, signal))).files,
    blame: async ({ repository, path, ref }: FileAddress, signal?: AbortSignal): Promise<Blame> =>
      read(await get("api/blame", { repo: repository, path, ref }, signal)),

    definitions: async (body: SymbolRequest, signal?: AbortSignal): Promise<SymbolAnswer> =>
      read(await post("api/find_definitions", body, signal)),
    references: async (body: SymbolRequest, signal?: AbortSignal): Promise<SymbolAnswer> =>
      read(await post("api/find_references", body, signal)),
  };
}

function sender({ root, service, storage, onRefused }: ClientOptions) {
  const request = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    const key = storage.getItem(KEY);
    if (key !== null) headers.set(`X-${service}-Api-Key`, key);
    const response = await fetch(new URL(path, root), { ...init, headers });
    if (response.ok) return response;
    if (response.status === 401) onRefused();
    throw await refusalOf(response);
  };
  const get = (path: string, query: object, signal?: AbortSignal): Promise<Response> =>
    request(`${path}?${parameters(query)}`, signal === undefined ? {} : { signal });
  const post = (path: string, body: object, signal?: AbortSignal): Promise<Response> => {
    const headers = { "Content-Type": "application/json" };
    const init = { method: "POST", body: JSON.stringify(body), headers };
    return request(path, signal === undefined ? init : { ...init, signal });
  };
  return { get, post };
}

async function listed<T>(response: Response): Promise<Listed<T>> {
  const items = await read<T[]>(response);
  return { items, total: Number(response.headers.get("X-Total-Count") ?? items.length) };
}

async function read<T>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

function parameters(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  return new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
}

async function refusalOf(response: Response): Promise<Refused> {
  try {
    const { errorCode, message } = await read<{ errorCode: string; message: string }>(response);
    return new Refused(response.status, errorCode, message);
  } catch {
    return new Refused(response.status, "", `The server answered ${response.status}.`); // an error page of a proxy
  }
}

/** Returns a message that tells the reader why a request failed. */
export function wordsOf(error: unknown): string {
  if (error instanceof Refused) return error.message;
  return "The server cannot be reached. Is it running, and is the network up?";
}

export const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === "AbortError";
