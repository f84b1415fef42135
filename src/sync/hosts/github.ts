/**
 * Lists repositories of GitHub and GitHub Enterprise through their REST API. A page contains 100 repositories, and
 * its header Link contains the address of the next page. The old address of a renamed repository redirects to an
 * address that contains the repository's id.
 */

import { z } from "zod";
import { addressOf, hostOf } from "../config/addresses.ts";
import type { Found } from "./found.ts";
import { listOf } from "./host-client.ts";
import { bearer, mapped, once, part, type ConfigOf, type Host, type ListContext } from "./host.ts";

const HOME = "https://github.com";

const repository = z.object({
  id: z.number(),
  full_name: z.string(),
  html_url: z.string(),
  private: z.boolean(),
  visibility: z.string().optional(),
  fork: z.boolean(),
  archived: z.boolean().default(false),
  stargazers_count: z.number().default(0),
  size: z.number().default(0), // in KB
  topics: listOf(z.string()).default([]),
  default_branch: z.string().nullish(),
});

export const github: Host<"github"> = {
  codeHostType: "github",
  api: ({ api, url = HOME }) =>
    api ?? (url === HOME ? "https://api.github.com" : addressOf(url, "api/v3")),
  headers: (credential) => ({ ...bearer(credential), accept: "application/vnd.github+json" }),
  gitUser: () => "x-access-token",
  list: async function* (config, context) {
    const { orgs = [], users = [], repos = [] } = config;
    const at = (...names: string[]) => addressOf(github.api(config)!, ...names);
    const toFound = (entry: z.infer<typeof repository>) => describe(entry, config.url ?? HOME);
    const all = (address: string) =>
      mapped(context.client.list(`${address}per_page=100`, repository), toFound);
    for (const org of orgs)
      yield* part(`orgs: ${org}`, all(`${at("orgs", org, "repos")}?type=all&`));
    for (const user of users) yield* part(`users: ${user}`, ofUser(user, { config, context, all }));
    for (const repo of repos) {
      const ask = async () =>
        toFound((await context.client.get(at("repos", repo), repository)).value);
      yield* part(`repos: ${repo}`, once(ask), true);
    }
  },
};

interface UserContext {
  readonly config: ConfigOf<"github">;
  readonly context: ListContext;
  readonly all: (address: string) => AsyncGenerator<Found>;
}

/**
 * Lists the repositories of a user. If the token belongs to this user, a different address lists the private
 * repositories, too.
 */
async function* ofUser(user: string, { config, context, all }: UserContext): AsyncGenerator<Found> {
  const api = github.api(config)!;
  const isOwn = context.isSignedIn && (await isSelf(user, api, context));
  if (isOwn) yield* all(`${addressOf(api, "user/repos")}?affiliation=owner&`);
  else yield* all(`${addressOf(api, "users", user, "repos")}?type=owner&`);
}

/**
 * Whether the token belongs to this user. The token of an application belongs to no user, so GitHub answers with 403.
 */
async function isSelf(
  user: string,
  api: string,
  { client, signal }: ListContext,
): Promise<boolean> {
  try {
    const { value } = await client.get(addressOf(api, "user"), z.object({ login: z.string() }));
    return value.login.toLowerCase() === user.toLowerCase();
  } catch (error) {
    if (signal.aborted) throw error;
    return false;
  }
}

function describe(entry: z.infer<typeof repository>, home: string): Found {
  return {
    kind: "repository",
    id: String(entry.id),
    path: entry.full_name,
    host: hostOf(home),
    place: { kind: "remote", url: `${addressOf(home, entry.full_name)}.git` },
    webUrl: entry.html_url,
    ...(entry.default_branch && { defaultBranch: entry.default_branch }),
    archived: entry.archived,
    fork: entry.fork,
    public: entry.visibility === undefined ? !entry.private : entry.visibility === "public",
    stars: entry.stargazers_count,
    bytes: entry.size * 1_000,
    topics: entry.topics,
  };
}
