/**
 * Parses and formats addresses. An address is the page's state, so every view can be sent as a link.
 *
 *     ?q=NAME&page=2                                    the repositories whose names contain NAME
 *     search?q=QUERY&regex=1&case=1&group=repository
 *     find?q=QUESTION                                   places that a question in words describes
 *     browse/REPOSITORY@REVISION/-/blob/PATH#L10-20     a file; ?blame=1&name=NAME&at=PATH:LINE:COLUMN
 *     browse/REPOSITORY@REVISION/-/tree/PATH            a folder; /-/tree/ is the root
 *     browse/REPOSITORY@REVISION/-/commits/PATH         the commits that changed it; ?q=WORDS&author=NAME&page=2
 *     browse/REPOSITORY/-/commit/HASH                   a commit
 *
 * Without `@REVISION`, the default revision is used. In names and paths, `@` is percent-encoded, so the first `@` is
 * a separator. The first `/-/` before `blob`, `tree`, `commits` or `commit` is also a separator. Addresses here are
 * relative to the page's root.
 */

export interface Lines {
  from: number;
  to: number;
}

export interface HomeView {
  view: "home";
  /** A text that the names of the listed repositories contain. */
  filter?: string;
  /** How many pages of the list are shown. Default 1. */
  pages?: number;
}

export interface SearchAddress {
  view: "search";
  query: string;
  regex: boolean;
  matchCase: boolean;
  /** Whether results are grouped by repository. */
  isGrouped?: boolean;
}

/** A question in words. It may contain filters. */
export interface FindView {
  view: "find";
  query: string;
}

interface InRepository {
  repository: string;
  ref?: string;
  path: string;
}

/** A place in a repository that names a symbol. */
export interface NamePlace {
  path: string;
  line: number;
  /** The column in code points, from 1. */
  column: number;
}

export interface FileView extends InRepository {
  view: "file";
  lines?: Lines;
  blame?: boolean;
  /** A name whose definitions and references are shown. */
  name?: string;
  /** The place where the reader asked for the name. Without it, all places with the name are shown. */
  at?: NamePlace;
}

export interface FolderView extends InRepository {
  view: "folder";
}

export interface CommitsView extends InRepository {
  view: "commits";
  /** Words in the commit messages. */
  query?: string;
  /** Part of the author's name. */
  author?: string;
  /** The number of the page, from 1. Default 1. */
  page?: number;
}

export interface CommitView {
  view: "commit";
  repository: string;
  hash: string;
}

export type Address =
  | HomeView
  | SearchAddress
  | FindView
  | FileView
  | FolderView
  | CommitsView
  | CommitView
  | { view: "missing" };

const encode = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

function formatLines({ from, to }: Lines): string {
  return from === to ? `#L${from}` : `#L${from}-${to}`;
}

function parseLines(hash: string): Lines | undefined {
  const [, from, to = from] = /^#L([1-9]\d{0,8})(?:-L?([1-9]\d{0,8}))?$/.exec(hash) ?? [];
  if (from === undefined) return undefined;
  const ends = [Number(from), Number(to)].sort((a, b) => a - b);
  return { from: ends[0]!, to: ends[1]! };
}

/** Formats an address, relative to the root. */
export function formatAddress(address: Address): string {
  switch (address.view) {
    case "missing":
      return "";
    case "home":
      return parametersOf({ q: address.filter, page: numberOf(address.pages) });
    case "search":
      return `search?${searchParameters(address)}`;
    case "find":
      return `find?${new URLSearchParams({ q: address.query }).toString()}`;
    case "file": {
      const { blame, name, at } = address;
      const place = name !== undefined && at && `${at.path}:${at.line}:${at.column}`;
      const parameters = { blame: blame && "1", name, at: place };
      const lines = address.lines ? formatLines(address.lines) : "";
      return inRepository(address, "blob") + parametersOf(parameters) + lines;
    }
    case "folder":
      return inRepository(address, "tree");
    case "commits": {
      const { query, author, page } = address;
      const parameters = { q: query, author, page: numberOf(page) };
      return inRepository(address, "commits") + parametersOf(parameters);
    }
    case "commit":
      return `browse/${encode(address.repository)}/-/commit/${encode(address.hash)}`;
  }
}

function inRepository({ repository, ref, path }: InRepository, kind: string): string {
  const at = ref === undefined ? "" : `@${encode(ref)}`;
  return `browse/${encode(repository)}${at}/-/${kind}/${encode(path)}`;
}

function searchParameters({ query, regex, matchCase, isGrouped }: SearchAddress): string {
  const parameters = new URLSearchParams({ q: query });
  if (regex) parameters.set("regex", "1");
  if (matchCase) parameters.set("case", "1");
  if (isGrouped) parameters.set("group", "repository");
  return parameters.toString();
}

/** Formats the parameters that are not empty. */
function parametersOf(values: Readonly<Record<string, string | false | undefined>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value) parameters.set(name, value);
  return parameters.size === 0 ? "" : `?${parameters.toString()}`;
}

/** Returns the number of a page as text. Returns undefined for the first page, because its address has no number. */
const numberOf = (page = 1): string | undefined => (page > 1 ? String(page) : undefined);

/** Parses an address below `root`. REQUIRES: `root` ends with a slash. */
export function parseAddress(href: string, root: string): Address {
  const { pathname, searchParams, hash } = new URL(href);
  const base = new URL(root).pathname;
  const below = pathname.startsWith(base) ? pathname.slice(base.length) : "";
  if (below === "") return homeView(searchParams);
  if (below === "search") return searchAddress(searchParams);
  if (below === "find") return { view: "find", query: searchParams.get("q") ?? "" };
  return browseAddress(below, searchParams, hash) ?? { view: "missing" };
}

function homeView(parameters: URLSearchParams): HomeView {
  const filter = parameters.get("q") ?? "";
  const pages = pageIn(parameters);
  return { view: "home", ...(filter !== "" && { filter }), ...(pages > 1 && { pages }) };
}

function searchAddress(parameters: URLSearchParams): Address {
  return {
    view: "search",
    query: parameters.get("q") ?? "",
    regex: parameters.get("regex") === "1",
    matchCase: parameters.get("case") === "1",
    ...(parameters.get("group") === "repository" && { isGrouped: true }),
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
    case "blob":
      return { view: "file", ...place, ...filePanels(parameters, parseLines(hash)) };
    case "tree":
      return { view: "folder", ...place };
    case "commits":
      return { view: "commits", ...place, ...commitsPage(parameters) };
    default:
      return { view: "commit", repository, hash: path };
  }
}

function filePanels(
  parameters: URLSearchParams,
  lines: Lines | undefined,
): Pick<FileView, "lines" | "blame" | "name" | "at"> {
  const name = parameters.get("name") ?? "";
  const [, path, line, column] =
    /^(.+):([1-9]\d{0,8}):([1-9]\d{0,8})$/s.exec(parameters.get("at") ?? "") ?? [];
  return {
    ...(lines && { lines }),
    ...(parameters.get("blame") === "1" && { blame: true }),
    ...(name !== "" && { name }),
    ...(name !== "" &&
      path !== undefined && { at: { path, line: Number(line), column: Number(column) } }),
  };
}

function commitsPage(parameters: URLSearchParams): Pick<CommitsView, "query" | "author" | "page"> {
  const query = parameters.get("q") ?? "";
  const author = parameters.get("author") ?? "";
  const page = pageIn(parameters);
  return {
    ...(query !== "" && { query }),
    ...(author !== "" && { author }),
    ...(page > 1 && { page }),
  };
}

/** Returns the number of the page in an address, or 1 if the address has no larger number. */
function pageIn(parameters: URLSearchParams): number {
  const page = Number(parameters.get("page") ?? 1);
  return Number.isSafeInteger(page) && page > 1 ? page : 1;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a percent sign that somebody typed
  }
}
