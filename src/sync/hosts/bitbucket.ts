/**
 * Lists repositories of Bitbucket Cloud through version 2.0 of its API. A page contains 100 repositories and the
 * address of the next page. A user's API token requires the user's e-mail address (`username`). An access token of a
 * repository, project or workspace requires no `username`.
 */

import { z } from "zod";
import { addressOf, hostOf } from "../config/addresses.ts";
import type { Found } from "./found.ts";
import { listOf } from "./host-client.ts";
import { basic } from "../config/secrets.ts";
import { bearer, mapped, once, part, type Host } from "./host.ts";

const HOME = "https://bitbucket.org";

const repository = z.object({
  uuid: z.string(),
  full_name: z.string(),
  is_private: z.boolean(),
  parent: z.object({}).nullish(),
  size: z.number().nullish(), // in bytes
  mainbranch: z.object({ name: z.string() }).nullish(),
  links: z.object({ html: z.object({ href: z.string() }) }),
});

const page = z.object({ values: listOf(repository), next: z.string().optional() });

export const bitbucket: Host<"bitbucket"> = {
  codeHostType: "bitbucketCloud",
  api: ({ api = "https://api.bitbucket.org/2.0" }) => api,
  headers: (credential) =>
    credential.username === undefined
      ? bearer(credential)
      : { authorization: basic(credential.username, credential.token) },
  gitUser: ({ username }) => {
    if (username === undefined) return "x-token-auth";
    return username.includes("@") ? "x-bitbucket-api-token-auth" : username;
  },
  list: async function* (config, { client }) {
    const { url = HOME, workspaces = [], repos = [] } = config;
    const at = (...names: string[]) => addressOf(bitbucket.api(config)!, "repositories", ...names);
    const toFound = (entry: z.infer<typeof repository>) => describe(entry, url);
    for (const workspace of workspaces) {
      const entries = client.pages(`${at(workspace)}?pagelen=100`, page, ({ value }) => ({
        entries: value.values,
        next: value.next,
      }));
      yield* part(`workspaces: ${workspace}`, mapped(entries, toFound));
    }
    for (const repo of repos) {
      const ask = async () => toFound((await client.get(at(repo), repository)).value);
      yield* part(`repos: ${repo}`, once(ask), true);
    }
  },
};

function describe(entry: z.infer<typeof repository>, home: string): Found {
  return {
    kind: "repository",
    id: entry.uuid,
    path: entry.full_name,
    host: hostOf(home),
    place: { kind: "remote", url: `${addressOf(home, entry.full_name)}.git` },
    webUrl: entry.links.html.href,
    ...(entry.mainbranch && { defaultBranch: entry.mainbranch.name }),
    fork: entry.parent != null,
    public: !entry.is_private,
    ...(entry.size != null && { bytes: entry.size }),
  };
}
