/**
 * Lists repositories of Gitea and Forgejo through version 1 of their API. A page contains 50 repositories, and its
 * header Link contains the address of the next page.
 */

import { z } from "zod";
import { addressOf, hostOf } from "../config/addresses.ts";
import type { Found } from "./found.ts";
import { listOf, nextLink } from "./host-client.ts";
import { mapped, once, part, type Host } from "./host.ts";

const repository = z.object({
  id: z.number(),
  full_name: z.string(),
  html_url: z.string(),
  private: z.boolean(),
  internal: z.boolean().default(false),
  owner: z.object({ visibility: z.string().default("public") }).optional(),
  fork: z.boolean(),
  archived: z.boolean().default(false),
  stars_count: z.number().default(0),
  size: z.number().default(0), // in KiB
  topics: listOf(z.string()).nullish(),
  default_branch: z.string().nullish(),
});

/** The response to a search. Unlike other responses, it is an object that contains the list. */
const searchPage = z.object({ data: listOf(repository) });

/** The size of a page. By default, a server returns at most 50 entries. */
const PAGE = "limit=50";

export const gitea: Host<"gitea"> = {
  codeHostType: "gitea",
  api: ({ url }) => addressOf(url, "api/v1"),
  headers: ({ token }) => ({ authorization: `token ${token}` }),
  gitUser: ({ username }) => username ?? "quern",
  list: async function* (config, { client }) {
    const { url, orgs = [], users = [], repos = [], all = false } = config;
    const at = (...names: string[]) => addressOf(gitea.api(config)!, ...names);
    const toFound = (entry: z.infer<typeof repository>) => describe(entry, url);
    const list = (address: string) => mapped(client.list(address, repository), toFound);
    if (all) {
      const pages = client.pages(`${at("repos/search")}?${PAGE}`, searchPage, (answer) => ({
        entries: answer.value.data,
        next: nextLink(answer.headers),
      }));
      yield* part("all", mapped(pages, toFound));
    }
    for (const org of orgs)
      yield* part(`orgs: ${org}`, list(`${at("orgs", org, "repos")}?${PAGE}`));
    for (const user of users)
      yield* part(`users: ${user}`, list(`${at("users", user, "repos")}?${PAGE}`));
    for (const repo of repos) {
      const ask = async () => toFound((await client.get(at("repos", repo), repository)).value);
      yield* part(`repos: ${repo}`, once(ask), true);
    }
  },
};

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
    public: isPublic(entry),
    stars: entry.stars_count,
    bytes: entry.size * 1_024,
    topics: entry.topics ?? [],
  };
}

/**
 * Whether everyone can see a repository. If the visibility of its owner is limited or private, only signed-in users
 * can see the repository. The field `internal` is set only for private owners, so this function checks the owner,
 * too.
 */
const isPublic = ({ private: isPrivate, internal, owner }: z.infer<typeof repository>): boolean =>
  !isPrivate && !internal && (owner?.visibility ?? "public") === "public";
