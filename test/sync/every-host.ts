/** All six code hosts behind one interface, with three repositories of acme, of which the first is private. */

import { onTestFinished } from "vitest";
import type { ConnectionConfig } from "../../src/sync/index.ts";
import { serveGitHub } from "./github-server.ts";
import { gitPath, serveHost, type Hosted, type HostServer, type Kind } from "./host-servers.ts";
import { commit, serveRemotes, type Remotes } from "./remotes.ts";
import { openWorkplace, type Workplace } from "./workplace.ts";

export type AnyKind = Kind | "github";

export const ALL_KINDS: readonly AnyKind[] = [
  "github",
  "gitlab",
  "gitea",
  "bitbucket",
  "azuredevops",
  "gerrit",
];

export interface Place {
  readonly remotes: Remotes;
  readonly host: Pick<HostServer, "before" | "token">;
  readonly workplace: Workplace;
  /** A connection that lists all repositories of acme. */
  readonly connection: ConnectionConfig;
  readonly env: Record<string, string>;
  /** Sets the repositories that the host has from now on. */
  readonly list: (repositories: readonly Hosted[]) => void;
}

const TOKEN = { token: { env: "TOKEN" } };

const CONNECTIONS: Readonly<Record<AnyKind, (url: string) => ConnectionConfig>> = {
  github: (url) => ({ type: "github", url, orgs: ["acme"], ...TOKEN }),
  gitlab: (url) => ({ type: "gitlab", url, groups: ["acme"], ...TOKEN }),
  gitea: (url) => ({ type: "gitea", url, orgs: ["acme"], ...TOKEN }),
  bitbucket: (url) => ({
    type: "bitbucket",
    url,
    api: `${url}/2.0`,
    workspaces: ["acme"],
    ...TOKEN,
  }),
  azuredevops: (url) => ({ type: "azuredevops", url, orgs: ["acme"], ...TOKEN }),
  gerrit: (url) => ({ type: "gerrit", url, ...TOKEN, username: "ada" }),
};

export const pathOf = (kind: AnyKind, name: string): string =>
  kind === "azuredevops" ? `acme/p/${name}` : `acme/${name}`;

/** Returns the repository's name in the index. */
export const nameOf = (kind: AnyKind, name: string): string => `127.0.0.1/${pathOf(kind, name)}`;

/** Returns the path at which git finds the repository. */
export const remotePath = (kind: AnyKind, name: string): string =>
  kind === "github" ? pathOf(kind, name) : gitPath(kind, pathOf(kind, name));

export const NAMES = ["one", "three", "two"] as const;

export async function openPlace(kind: AnyKind): Promise<Place> {
  const remotes = await serveRemotes();
  const { host, list } = startHost(kind, remotes);
  for (const name of NAMES)
    commit(remotes.root, remotePath(kind, name), { "a.ts": `needle ${name}\n` });
  list(NAMES.map((name, n) => ({ id: n + 1, path: pathOf(kind, name), private: n === 0 })));
  const workplace = await openWorkplace();
  onTestFinished(() => void (host.before = () => false));
  return {
    remotes,
    host,
    workplace,
    connection: CONNECTIONS[kind](remotes.url),
    env: { TOKEN: host.token },
    list,
  };
}

function startHost(kind: AnyKind, remotes: Remotes): Pick<Place, "host" | "list"> {
  if (kind !== "github") {
    const host = serveHost(remotes, kind);
    return { host, list: (repositories) => void (host.repositories = [...repositories]) };
  }
  const host = serveGitHub(remotes);
  const list = (repositories: readonly Hosted[]): void => {
    host.repositories = repositories.map(({ path, ...rest }) => ({ ...rest, full_name: path }));
  };
  return { host, list };
}
