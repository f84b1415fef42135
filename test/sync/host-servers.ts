/**
 * The interfaces of five code hosts according to their descriptions, each with the same few repositories: credentials,
 * pages of lists, and the form of a repository.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { passwordOf, type Remotes } from "./remotes.ts";

export interface Hosted {
  id: number;
  /** 'acme/shop'; Azure DevOps: 'acme/shop/backend'. */
  path: string;
  private?: boolean;
  fork?: boolean;
  archived?: boolean;
  stars?: number;
  /** Turned off or hidden: the repository may be listed, but may never be read. */
  hidden?: boolean;
  /** The repository is not private, but its code, or everything of its owner, is for members only. */
  membersOnly?: boolean;
}

export interface HostServer {
  repositories: Hosted[];
  readonly token: string;
  /** The number of entries in a page, whatever is requested. A small number gives several pages. */
  pageSize: number;
  /** Is called first for each request. Returns true if it has answered. */
  before: (request: IncomingMessage, response: ServerResponse) => boolean;
}

interface Asked {
  readonly url: URL;
  readonly request: IncomingMessage;
  readonly hosted: HostServer;
  /** Whether the request has the token. */
  readonly isKnown: boolean;
}

type Answer = { status?: number; body: unknown; headers?: Record<string, string>; prefix?: string };
type Interface = (asked: Asked) => Answer | undefined;

export type Kind = "gitlab" | "gitea" | "bitbucket" | "azuredevops" | "gerrit";

const TOKEN = "secret-0123456789abcdef";

export function serveHost(remotes: Remotes, kind: Kind): HostServer {
  const hosted: HostServer = { repositories: [], token: TOKEN, pageSize: 2, before: () => false };
  const answer = INTERFACES[kind];
  remotes.interface = (request, response) => {
    if (hosted.before(request, response)) return true;
    const url = new URL(request.url!, remotes.url);
    const isKnown = isSignedIn(kind, request, url);
    if (isKnown === undefined)
      return send(response, { status: 401, body: { message: "401 Unauthorized" } });
    const found = answer({ url, request, hosted, isKnown });
    return found !== undefined && send(response, found);
  };
  remotes.mayRead = (path, request) => {
    const one = hosted.repositories.find((other) => gitPath(kind, other.path) === path);
    if (kind === "gerrit" && request.url!.startsWith("/a/")) return passwordOf(request) === TOKEN;
    return one?.private !== true || passwordOf(request) === TOKEN;
  };
  return hosted;
}

/** Returns the path at which git finds the repository. */
export function gitPath(kind: Kind, path: string): string {
  if (kind !== "azuredevops") return path;
  const [org, project, name] = path.split("/");
  return `${org}/${project}/_git/${name}`;
}

function send(
  response: ServerResponse,
  { status = 200, body, headers = {}, prefix = "" }: Answer,
): true {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(prefix + JSON.stringify(body));
  return true;
}

/** Whether the request has the token. Undefined if it has an invalid one. */
function isSignedIn(kind: Kind, request: IncomingMessage, url: URL): boolean | undefined {
  const { authorization } = request.headers;
  if (authorization === undefined)
    return kind === "gerrit" && url.pathname.startsWith("/a/") ? undefined : false;
  const good = {
    gitlab: [`Bearer ${TOKEN}`],
    gitea: [`token ${TOKEN}`],
    bitbucket: [`Bearer ${TOKEN}`, basic("ada@example.org")],
    azuredevops: [basic("")],
    gerrit: [basic("ada")],
  };
  return good[kind].includes(authorization) ? true : undefined;
}

const basic = (user: string): string =>
  `Basic ${Buffer.from(`${user}:${TOKEN}`).toString("base64")}`;

const seen = ({ hosted, isKnown }: Asked): Hosted[] =>
  hosted.repositories.filter((one) => isKnown || one.private !== true);
const owned = (asked: Asked, owner: string): Hosted[] =>
  seen(asked).filter(({ path }) => path.startsWith(`${owner}/`));
const notFound: Answer = { status: 404, body: { message: "404 Not Found" } };
const single = (one: Hosted | undefined, show: (one: Hosted) => object): Answer =>
  one === undefined ? notFound : { body: show(one) };

/** Returns a page with its header Link. `origin` is the host's own address. */
function linked(
  asked: Asked,
  all: Hosted[],
  show: (one: Hosted) => object,
  origin = asked.url.origin,
): Answer {
  const { pageSize } = asked.hosted;
  const page = Number(asked.url.searchParams.get("page") ?? 1);
  const next = new URL(asked.url);
  next.searchParams.set("page", String(page + 1));
  const isLast = page * pageSize >= all.length;
  const address = origin + next.pathname + next.search;
  return {
    body: all.slice((page - 1) * pageSize, page * pageSize).map(show),
    headers: isLast ? {} : { link: `<${address}>; rel="next", <${address}>; rel="last"` },
  };
}

const gitlab: Interface = (asked) => {
  const { url, isKnown } = asked;
  if (url.searchParams.has("statistics") && !isKnown)
    return { status: 403, body: { message: "403 Forbidden" } };
  const show = (one: Hosted) => ({
    id: one.id,
    path_with_namespace: one.path,
    web_url: `${url.origin}/${one.path}`,
    default_branch: "main",
    visibility: one.private ? "private" : "public",
    archived: one.archived ?? false,
    ...(one.fork && { forked_from_project: { id: 1 } }),
    star_count: one.stars ?? 0,
    topics: [],
    repository_access_level: one.hidden ? "disabled" : one.membersOnly ? "private" : "enabled",
    ...(url.searchParams.has("statistics") && { statistics: { repository_size: 1_000 } }),
  });
  const path = url.pathname.replace(/^\/api\/v4\//, "");
  if (path === "projects") return linked(asked, seen(asked), show);
  const [, kind, name, rest] = /^(groups|users|projects)\/([^/]+)(\/projects)?$/.exec(path) ?? [];
  const owner = decodeURIComponent(name ?? "");
  if (kind === "projects" && rest === undefined)
    return single(
      seen(asked).find((one) => one.path === owner),
      show,
    );
  const all = owned(asked, owner);
  return rest === undefined || all.length === 0 ? notFound : linked(asked, all, show);
};

const gitea: Interface = (asked) => {
  const { url } = asked;
  const show = (one: Hosted) => ({
    id: one.id,
    full_name: one.path,
    html_url: `${url.origin}/${one.path}`,
    private: one.private ?? false,
    internal: false, // also of a limited owner
    owner: { visibility: one.membersOnly ? "limited" : "public" },
    fork: one.fork ?? false,
    archived: one.archived ?? false,
    stars_count: one.stars ?? 0,
    size: 1,
    topics: null,
    default_branch: "main",
  });
  const elsewhere = "http://gitea.internal:3000"; // its ROOT_URL
  const path = url.pathname.replace(/^\/api\/v1\//, "");
  if (path === "repos/search") {
    const page = linked(asked, seen(asked), show, elsewhere);
    return { ...page, body: { ok: true, data: page.body } };
  }
  const owner = /^(?:orgs|users)\/([^/]+)\/repos$/.exec(path)?.[1];
  if (owner !== undefined) {
    const all = owned(asked, owner);
    return all.length === 0 ? notFound : linked(asked, all, show, elsewhere);
  }
  const name = /^repos\/([^/]+\/[^/]+)$/.exec(path)?.[1];
  return single(
    seen(asked).find((one) => one.path === name),
    show,
  );
};

const bitbucket: Interface = (asked) => {
  const { url, hosted } = asked;
  const show = (one: Hosted) => ({
    uuid: `{0000000${one.id}-1111-2222-3333-444444444444}`,
    full_name: one.path,
    is_private: one.private ?? false,
    ...(one.fork && { parent: { full_name: "other/one" } }),
    size: 1_000,
    mainbranch: { name: "main", type: "branch" },
    links: { html: { href: `${url.origin}/${one.path}` } },
  });
  const path = url.pathname.replace(/^\/2\.0\/repositories\//, "");
  if (path.includes("/"))
    return single(
      seen(asked).find((one) => one.path === path),
      show,
    );
  const all = owned(asked, path);
  if (all.length === 0) return notFound;
  const page = Number(url.searchParams.get("page") ?? 1);
  const next = new URL(url);
  next.searchParams.set("page", String(page + 1));
  const isLast = page * hosted.pageSize >= all.length;
  const values = all.slice((page - 1) * hosted.pageSize, page * hosted.pageSize).map(show);
  return { body: { pagelen: hosted.pageSize, values, page, ...(!isLast && { next: next.href }) } };
};

const azuredevops: Interface = (asked) => {
  const { url } = asked;
  const show = (one: Hosted) => {
    const [org, project, name] = one.path.split("/");
    return {
      id: `0000000${one.id}-1111-2222-3333-444444444444`,
      name,
      project: { name: project, visibility: one.private ? "private" : "public" },
      defaultBranch: "refs/heads/main",
      size: 1_000,
      webUrl: `${url.origin}/${org}/${project}/_git/${name}`,
      isFork: one.fork ?? false,
      isDisabled: one.hidden ?? false,
    };
  };
  if (!url.searchParams.has("api-version"))
    return { status: 400, body: { message: "api-version" } };
  const form = /^\/(.+)\/_apis\/git\/repositories(?:\/([^/]+))?$/.exec(
    decodeURIComponent(url.pathname),
  );
  if (form === null) return notFound;
  const [, scope, name] = form;
  const all = owned(asked, scope!);
  if (name !== undefined)
    return single(
      all.find((one) => one.path === `${scope}/${name}`),
      show,
    );
  return all.length === 0 ? notFound : { body: { value: all.map(show), count: all.length } };
};

const gerrit: Interface = (asked) => {
  const { url, hosted } = asked;
  const prefix = ")]}'\n";
  const show = (one: Hosted) => ({
    id: encodeURIComponent(one.path),
    state: one.hidden ? "HIDDEN" : one.archived ? "READ_ONLY" : "ACTIVE",
    web_links: [],
  });
  const path = url.pathname.replace(/^\/a\//, "/");
  const name = /^\/projects\/([^/]+)$/.exec(path)?.[1];
  if (name !== undefined) {
    const one = seen(asked).find((other) => other.path === decodeURIComponent(name));
    return one === undefined
      ? { ...notFound, body: `Not found: ${name}` }
      : { body: { ...show(one), name: one.path }, prefix };
  }
  if (path !== "/projects/") return undefined;
  const from = Number(url.searchParams.get("S"));
  const all = seen(asked);
  const entries = all
    .slice(from, from + hosted.pageSize)
    .map((one) => [one.path, show(one)] as const);
  const last = entries.at(-1);
  if (last && from + hosted.pageSize < all.length) Object.assign(last[1], { _more_projects: true });
  return { body: Object.fromEntries(entries), prefix };
};

const INTERFACES: Readonly<Record<Kind, Interface>> = {
  gitlab,
  gitea,
  bitbucket,
  azuredevops,
  gerrit,
};
