/**
 * Gerrit, by its REST interface. Each answer has a line before the JSON that keeps browsers from
 * running it. A page of projects says at its last one whether there are more. Who signs in does so
 * below /a/, where git is asked, too.
 */

import { z } from "zod";
import { QuernError } from "../../base/errors.ts";
import { addressOf, hostOf } from "../config/addresses.ts";
import type { Found } from "./found.ts";
import type { HostClient } from "./host-client.ts";
import { basic } from "../config/secrets.ts";
import { once, part, type Host } from "./host.ts";

const PREFIX = ")]}'";
const PAGE = 500;

const project = z.object({
  id: z.string(), // its name, encoded
  name: z.string().optional(), // where the map of a list does not say it
  state: z.string().optional(),
  _more_projects: z.boolean().optional(),
});

const list = z.record(z.string(), project);

export const gerrit: Host<"gerrit"> = {
  codeHostType: "gerrit",
  api: ({ url }) => url,
  headers: ({ token, username = "" }) => ({ authorization: basic(username, token) }),
  gitUser: ({ username }) => username ?? "",
  list: async function* ({ url, repos }, { client, isSignedIn }) {
    const base = isSignedIn ? addressOf(url, "a") : url;
    if (repos === undefined) return yield* part("projects", projects({ base, url, client }));
    for (const repo of repos) {
      const address = `${addressOf(base, "projects")}/${encodeURIComponent(repo)}`;
      const ask = async () => {
        const { value } = await client.get(address, project, PREFIX);
        return describe(repo, value, { base, url }) ?? hidden(repo);
      };
      yield* part(`repos: ${repo}`, once(ask), true);
    }
  },
};

const hidden = (name: string): never => {
  throw new QuernError("SOURCE_NOT_FOUND", `the project ${name} is hidden`);
};

interface Places {
  /** Where it is asked. */
  readonly base: string;
  /** Where people look. */
  readonly url: string;
}

async function* projects(places: Places & { client: HostClient }): AsyncGenerator<Found> {
  const { client, base } = places;
  for (let from = 0; ;) {
    const address = `${addressOf(base, "projects/")}?type=CODE&n=${PAGE}&S=${from}`;
    const { value } = await client.get(address, list, PREFIX);
    const entries = Object.entries(value);
    for (const [name, entry] of entries) {
      const found = describe(name, entry, places);
      if (found !== undefined) yield found;
    }
    from += entries.length;
    if (!entries.some(([, entry]) => entry._more_projects === true)) return;
  }
}

/** Describes a project; returns undefined if it is hidden. A read-only project counts as archived. */
function describe(
  name: string,
  { id, state = "ACTIVE" }: z.infer<typeof project>,
  { base, url }: Places,
): Found | undefined {
  if (state === "HIDDEN") return undefined;
  return {
    kind: "repository",
    id,
    path: name,
    host: hostOf(url),
    place: { kind: "remote", url: addressOf(base, name) },
    webUrl: addressOf(url, "plugins/gitiles", name),
    archived: state === "READ_ONLY",
  };
}
