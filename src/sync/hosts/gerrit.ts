/**
 * Lists projects of Gerrit through its REST API. Each answer begins with a line that prevents browsers from executing
 * the JSON as a script. The last project of a page says whether there are more projects. Authenticated requests,
 * including those of git, go to addresses below /a/.
 */

import { z } from "zod";
import { QuernError } from "../../base/errors.ts";
import { addressOf, hostOf } from "../config/addresses.ts";
import type { Found } from "./found.ts";
import { fieldsOf, type HostClient } from "./host-client.ts";
import { basic } from "../config/secrets.ts";
import { once, part, type Host } from "./host.ts";

const PREFIX = ")]}'";
const PAGE = 500;

const project = z.object({
  id: z.string(), // the encoded name
  name: z.string().optional(), // absent if the project is an entry of a map, whose key is the name
  state: z.string().optional(),
  _more_projects: z.boolean().optional(),
});

const list = fieldsOf(project);

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
  /** The address of the API. */
  readonly base: string;
  /** The address of the web pages. */
  readonly url: string;
}

async function* projects(places: Places & { client: HostClient }): AsyncGenerator<Found> {
  const { client, base } = places;
  for (let from = 0; ;) {
    const address = `${addressOf(base, "projects/")}?type=CODE&n=${PAGE}&S=${from}`;
    const { value: entries } = await client.get(address, list, PREFIX);
    for (const [name, entry] of entries) {
      const found = describe(name, entry, places);
      if (found !== undefined) yield found;
    }
    from += entries.length;
    if (!entries.some(([, entry]) => entry._more_projects === true)) return;
  }
}

/** Describes a project. Returns undefined if the project is hidden. A read-only project counts as archived. */
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
