/**
 * Addresses are the page's state: each view has one that can be sent to somebody else.
 *
 *     search?q=QUERY&regex=1&case=1
 *     browse/REPOSITORY@REVISION/-/blob/PATH#L10-20        a file; ?blame=1
 *     browse/REPOSITORY@REVISION/-/tree/PATH               a folder; /-/tree/ is the root
 *     browse/REPOSITORY@REVISION/-/commits/PATH            its history; ?q=WORDS&author=NAME&page=2
 *     browse/REPOSITORY/-/commit/HASH
 *
 * `@REVISION` may be left out: the default one. Segments are percent-encoded, so that the first `@` and
 * the first `/-/` are those of this grammar. Addresses here are relative to the page's root.
 */

export interface Lines {
  from: number;
  to: number;
}

export interface SearchAddress {
  view: "search";
  query: string;
  regex: boolean;
  matchCase: boolean;
}

interface InRepository {
  repository: string;
  ref?: string;
  path: string;
}

export interface FileView extends InRepository {
  view: "file";
  lines?: Lines;
  blame?: boolean;
}

export interface FolderView extends InRepository {
  view: "folder";
}

export interface CommitsView extends InRepository {
  view: "commits";
  /** What their messages hold. */
  query?: string;
  /** Part of who wrote them. */
  author?: string;
  /** 1-based; the first if absent. */
  page?: number;
}

export interface CommitView {
  view: "commit";
  repository: string;
  hash: string;
}

export type Address =
  | { view: "home" }
  | SearchAddress
  | FileView
  | FolderView
  | CommitsView
  | CommitView
  | { view: "missing" };

const encode = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

export function showLines({ from, to }: Lines): string {
  return from === to ? `#L${from}` : `#L${from}-${to}`;
}

export function parseLines(hash: string): Lines | undefined {
  const [, from, to = from] = /^#L([1-9]\d{0,8})(?:-L?([1-9]\d{0,8}))?$/.exec(hash) ?? [];
  if (from === undefined) return undefined;
  const ends = [Number(from), Number(to)].sort((a, b) => a - b);
  return { from: ends[0]!, to: ends[1]! };
}

/** Writes an address, relative to the root. */
export function showAddress(address: Address): string {
  switch (address.view) {
    case "home":
    case "missing":
      return "";
    case "search":
      return `search?${searchParameters(address)}`;
    case "file": {
      const blame = address.blame ? "?blame=1" : "";
      return `${inRepository(address, "blob")}${blame}${address.lines ? showLines(address.lines) : ""}`;
    }
    case "folder":
      return inRepository(address, "tree");
    case "commits":
      return inRepository(address, "commits") + commitsParameters(address);
    case "commit":
      return `browse/${encode(address.repository)}/-/commit/${encode(address.hash)}`;
  }
}

function inRepository({ repository, ref, path }: InRepository, kind: string): string {
  const at = ref === undefined ? "" : `@${encode(ref)}`;
  return `browse/${encode(repository)}${at}/-/${kind}/${encode(path)}`;
}

function searchParameters({ query, regex, matchCase }: SearchAddress): string {
  const parameters = new URLSearchParams({ q: query });
  if (regex) parameters.set("regex", "1");
  if (matchCase) parameters.set("case", "1");
  return parameters.toString();
}

function commitsParameters({ query = "", author = "", page = 1 }: CommitsView): string {
  const parameters = new URLSearchParams();
  if (query !== "") parameters.set("q", query);
  if (author !== "") parameters.set("author", author);
  if (page > 1) parameters.set("page", String(page));
  return parameters.size === 0 ? "" : `?${parameters.toString()}`;
}

/** Reads an address below `root`, which ends with a slash. */
export function parseAddress(href: string, root: string): Address {
  const { pathname, searchParams, hash } = new URL(href);
  const base = new URL(root).pathname;
  const below = pathname.startsWith(base) ? pathname.slice(base.length) : "";
  if (below === "") return { view: "home" };
  if (below === "search") return searchAddress(searchParams);
  return browseAddress(below, searchParams, hash) ?? { view: "missing" };
}

function searchAddress(parameters: URLSearchParams): Address {
  return {
    view: "search",
    query: parameters.get("q") ?? "",
    regex: parameters.get("regex") === "1",
    matchCase: parameters.get("case") === "1",
  };
}

const BROWSE = /^browse\/([^@]+?)(?:@(.*?))?\/-\/(blob|tree|commits|commit)\/(.*)$/s;

function browseAddress(
  below: string,
  parameters: URLSearchParams,
  hash: string,
): Address | undefined {
  const parts = BROWSE.exec(below);
  if (parts === null) return undefined;
  const [repository, ref, kind, path] = [1, 2, 3, 4].map((part) => decode(parts[part] ?? "")) as [
    string,
    string,
    string,
    string,
  ];
  const place = { repository, ...(ref ? { ref } : {}), path };
  switch (kind) {
    case "blob": {
      const lines = parseLines(hash);
      const blame = parameters.get("blame") === "1";
      return { view: "file", ...place, ...(lines && { lines }), ...(blame && { blame }) };
    }
    case "tree":
      return { view: "folder", ...place };
    case "commits":
      return { view: "commits", ...place, ...commitsPage(parameters) };
    default:
      return { view: "commit", repository, hash: path };
  }
}

function commitsPage(parameters: URLSearchParams): Pick<CommitsView, "query" | "author" | "page"> {
  const query = parameters.get("q") ?? "";
  const author = parameters.get("author") ?? "";
  const page = Number(parameters.get("page") ?? 1);
  return {
    ...(query !== "" && { query }),
    ...(author !== "" && { author }),
    ...(Number.isSafeInteger(page) && page > 1 && { page }),
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a percent sign that somebody typed
  }
}
