/**
 * Lists projects of GitLab through version 4 of its REST API. A page contains 100 projects, and its header Link
 * contains the address of the next page. Lists are ordered by id, so a project that is created during the listing
 * does not move other projects to different pages.
 */

import { z } from "zod";
import { QuernError } from "../../base/errors.ts";
import { addressOf, hostOf } from "../config/addresses.ts";
import type { Found } from "./found.ts";
import { listOf } from "./host-client.ts";
import { bearer, mapped, once, part, type Host } from "./host.ts";

const HOME = "https://gitlab.com";

const project = z.object({
  id: z.number(),
  path_with_namespace: z.string(),
  web_url: z.string(),
  default_branch: z.string().nullish(),
  visibility: z.string().default("private"),
  archived: z.boolean().default(false),
  forked_from_project: z.object({}).nullish(),
  star_count: z.number().default(0),
  topics: listOf(z.string()).default([]),
  statistics: z.object({ repository_size: z.number() }).nullish(), // in bytes; present only if the token may read it
  repository_access_level: z.string().optional(),
});

const PAGE = "per_page=100&order_by=id&sort=asc";

export const gitlab: Host<"gitlab"> = {
  codeHostType: "gitlab",
  api: ({ url = HOME }) => addressOf(url, "api/v4"),
  headers: bearer,
  gitUser: ({ username }) => username ?? "oauth2",
  list: async function* (config, { client, isSignedIn }) {
    const { groups = [], users = [], repos = [], all = false } = config;
    const api = gitlab.api(config)!;
    const home = config.url ?? HOME;
    const page = isSignedIn ? `${PAGE}&statistics=true` : PAGE; // anonymous callers may not ask for sizes
    const list = (address: string) =>
      mapped(client.list(address, project), (entry) => describe(entry, home));
    if (all) yield* part("all", list(`${api}/projects?${page}`));
    for (const group of groups) {
      const address = `${api}/groups/${encodeURIComponent(group)}/projects`;
      yield* part(`groups: ${group}`, list(`${address}?include_subgroups=true&${page}`));
    }
    for (const user of users)
      yield* part(`users: ${user}`, list(`${addressOf(api, "users", user, "projects")}?${page}`));
    for (const repo of repos)
      yield* part(
        `repos: ${repo}`,
        once(() => one(repo)),
        true,
      );

    async function one(path: string): Promise<Found> {
      const { value } = await client.get(`${api}/projects/${encodeURIComponent(path)}`, project);
      return describe(value, home) ?? noCode(path);
    }
  },
};

const noCode = (path: string): never => {
  throw new QuernError("SOURCE_NOT_FOUND", `${path} has no repository that the token may read`);
};

/** Describes a project. Returns undefined if the project's repository is disabled. */
function describe(entry: z.infer<typeof project>, home: string): Found | undefined {
  if (entry.repository_access_level === "disabled") return undefined;
  const { path_with_namespace: path } = entry;
  return {
    kind: "repository",
    id: String(entry.id),
    path,
    host: hostOf(home),
    place: { kind: "remote", url: `${addressOf(home, path)}.git` },
    webUrl: entry.web_url,
    ...(entry.default_branch && { defaultBranch: entry.default_branch }),
    archived: entry.archived,
    fork: entry.forked_from_project != null,
    // a project may be public although its code is visible to members only
    public: entry.visibility === "public" && entry.repository_access_level !== "private",
    stars: entry.star_count,
    ...(entry.statistics && { bytes: entry.statistics.repository_size }),
    topics: entry.topics,
  };
}
