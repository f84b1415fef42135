/** GitHub's REST interface according to its description: pages with Link, 404, renamed repositories, rate limits. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { passwordOf, type Remotes } from "./remotes.ts";

export interface GitHubRepository {
  id: number;
  /** 'acme/shop'. */
  full_name: string;
  private?: boolean;
  visibility?: string;
  fork?: boolean;
  archived?: boolean;
  stargazers_count?: number;
  /** In KB. */
  size?: number;
  topics?: string[];
  default_branch?: string;
}

export interface GitHub {
  repositories: GitHubRepository[];
  /** The only valid token. */
  token: string;
  /** The user to whom the token belongs. */
  login: string;
  organizations: string[];
  /** Earlier names of repositories. */
  renamed: Map<string, number>;
  /** Is called first for each request. Returns true if it has answered. */
  before: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export function serveGitHub(remotes: Remotes): GitHub {
  const github: GitHub = {
    repositories: [],
    token: "ghp_0123456789abcdefghij",
    login: "ada",
    organizations: ["acme"],
    renamed: new Map(),
    before: () => false,
  };
  remotes.interface = (request, response) => answer(github, remotes.url, request, response);
  remotes.mayRead = (path, request) => {
    const found = github.repositories.find(({ full_name }) => full_name === path);
    return found?.private !== true || passwordOf(request) === github.token;
  };
  return github;
}

function answer(
  github: GitHub,
  origin: string,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const url = new URL(request.url!, origin);
  if (!url.pathname.startsWith("/api/v3/")) return false;
  if (github.before(request, response)) return true;
  const path = url.pathname.slice("/api/v3/".length);
  const send = (status: number, body: unknown, headers: Record<string, string> = {}): true => {
    response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers });
    response.end(JSON.stringify(body));
    return true;
  };
  const notFound = () => send(404, { message: "Not Found", documentation_url: "https://docs" });
  const { authorization } = request.headers;
  if (authorization !== undefined && authorization !== `Bearer ${github.token}`)
    return send(401, { message: "Bad credentials" });
  const isKnown = authorization !== undefined;
  const shown = github.repositories.filter((one) => isKnown || one.private !== true);
  const of = (owner: string) => shown.filter((one) => one.full_name.startsWith(`${owner}/`));

  if (path === "user")
    return isKnown
      ? send(200, { login: github.login })
      : send(401, { message: "Requires authentication" });
  if (path === "user/repos") return page(of(github.login));
  const org = /^orgs\/([^/]+)\/repos$/.exec(path)?.[1];
  if (org !== undefined) return github.organizations.includes(org) ? page(of(org)) : notFound();
  const user = /^users\/([^/]+)\/repos$/.exec(path)?.[1];
  if (user !== undefined) return page(of(user).filter((one) => one.private !== true));
  const byId = /^repositories\/(\d+)$/.exec(path)?.[1];
  if (byId !== undefined) return one(shown.find(({ id }) => id === Number(byId)));
  const name = /^repos\/([^/]+\/[^/]+)$/.exec(path)?.[1];
  if (name === undefined) return notFound();
  const old = github.renamed.get(name);
  if (old !== undefined) {
    const location = `${origin}/api/v3/repositories/${old}`;
    return send(301, { message: "Moved Permanently", url: location }, { location });
  }
  return one(shown.find(({ full_name }) => full_name === name));

  function one(repository: GitHubRepository | undefined): true {
    return repository === undefined ? notFound() : send(200, full(repository));
  }

  function page(all: GitHubRepository[]): true {
    const size = Number(url.searchParams.get("per_page") ?? 30);
    const at = Number(url.searchParams.get("page") ?? 1);
    const last = Math.max(1, Math.ceil(all.length / size));
    const to = (number: number, rel: string): string => {
      const target = new URL(url);
      target.searchParams.set("page", String(number));
      return `<${target.href}>; rel="${rel}"`;
    };
    const links = [
      ...(at > 1 ? [to(at - 1, "prev"), to(1, "first")] : []),
      ...(at < last ? [to(at + 1, "next"), to(last, "last")] : []),
    ];
    const entries = all.slice((at - 1) * size, at * size).map(full);
    return send(200, entries, links.length > 0 ? { link: links.join(", ") } : {});
  }

  function full(repository: GitHubRepository): object {
    const { private: isPrivate = false, full_name } = repository;
    return {
      node_id: "R_1",
      name: full_name.split("/")[1],
      html_url: `${origin}/${full_name}`,
      private: isPrivate,
      visibility: isPrivate ? "private" : "public",
      fork: false,
      archived: false,
      disabled: false,
      stargazers_count: 0,
      size: 1,
      topics: [],
      default_branch: "main",
      clone_url: `${origin}/${full_name}.git`,
      ...repository,
    };
  }
}
