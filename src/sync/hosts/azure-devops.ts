/**
 * Lists repositories of Azure DevOps through version 7.0 of its API. Azure DevOps Server has supported this version
 * since 2022. One response contains all repositories of an organization or a project.
 */

import { z } from "zod";
import { QuernError } from "../../base/errors.ts";
import { addressOf, hostOf } from "../config/addresses.ts";
import type { Found } from "./found.ts";
import { listOf } from "./host-client.ts";
import { basic } from "../config/secrets.ts";
import { mapped, once, part, type Host } from "./host.ts";

const HOME = "https://dev.azure.com";

const repository = z.object({
  id: z.string(),
  name: z.string(),
  project: z.object({ name: z.string(), visibility: z.string().optional() }),
  defaultBranch: z.string().optional(), // the full name of a branch
  size: z.number().optional(), // in bytes
  webUrl: z.string().optional(),
  isFork: z.boolean().default(false),
  isDisabled: z.boolean().default(false),
});

const list = z.object({ value: listOf(repository) });

const VERSION = "api-version=7.0";

export const azureDevOps: Host<"azuredevops"> = {
  codeHostType: "azuredevops",
  api: ({ url = HOME }) => url,
  // with a personal access token as the password, Azure DevOps accepts any user name
  headers: ({ token, username = "" }) => ({ authorization: basic(username, token) }),
  gitUser: ({ username }) => username ?? "quern",
  list: async function* (config, { client }) {
    const { url = HOME, orgs = [], projects = [], repos = [] } = config;
    const at = (scope: string, ...names: string[]) =>
      `${addressOf(url, scope, "_apis/git/repositories", ...names)}?${VERSION}`;
    const all = (scope: string) => {
      const [org] = scope.split("/");
      const entries = client.pages(at(scope), list, ({ value }) => ({
        entries: value.value,
        next: undefined,
      }));
      return mapped(entries, (entry) => describe(entry, url, org!));
    };
    for (const org of orgs) yield* part(`orgs: ${org}`, all(org));
    for (const project of projects) yield* part(`projects: ${project}`, all(project));
    for (const repo of repos) {
      const [org, project, name] = repo.split("/") as [string, string, string];
      const ask = async () => {
        const { value } = await client.get(at(`${org}/${project}`, name), repository);
        return describe(value, url, org) ?? turnedOff(repo);
      };
      yield* part(`repos: ${repo}`, once(ask), true);
    }
  },
};

const turnedOff = (path: string): never => {
  throw new QuernError("SOURCE_NOT_FOUND", `the repository ${path} is disabled`);
};

/** Describes a repository. Returns undefined for a disabled repository, which cannot be fetched. */
function describe(entry: z.infer<typeof repository>, home: string, org: string): Found | undefined {
  if (entry.isDisabled) return undefined;
  const { name, project, defaultBranch, webUrl, size } = entry;
  return {
    kind: "repository",
    id: entry.id,
    path: `${org}/${project.name}/${name}`,
    host: hostOf(home),
    place: { kind: "remote", url: addressOf(home, org, project.name, "_git", name) },
    ...(webUrl !== undefined && { webUrl }),
    ...(defaultBranch && { defaultBranch: defaultBranch.replace(/^refs\/heads\//, "") }),
    fork: entry.isFork,
    public: project.visibility === "public",
    ...(size !== undefined && { bytes: size }),
  };
}
