/** Lists remotes whose addresses are in the configuration. This needs no requests. */

import { remoteName } from "../../git/remote-name.ts";
import type { Found } from "./found.ts";
import type { Host } from "./host.ts";

export const plainGit: Host<"git"> = {
  codeHostType: "genericGitHost",
  api: () => undefined,
  headers: () => ({}),
  gitUser: ({ username }) => username ?? "quern",
  list: async function* ({ urls }) {
    for (const url of urls) yield describe(url);
  },
};

function describe(url: string): Found {
  const name = remoteName(url) ?? `file${pathOf(url)}`;
  const slash = name.indexOf("/");
  const isWeb = /^https?:/i.test(url);
  return {
    kind: "repository",
    id: url,
    path: name.slice(slash + 1),
    host: name.slice(0, slash),
    place: { kind: "remote", url },
    ...(isWeb && { webUrl: url.replace(/\.git$/, "") }),
  };
}

/** Returns the path in an address such as `file:///srv/shop.git`, without `.git`. */
const pathOf = (url: string): string =>
  new URL(url).pathname.replace(/\/+$/, "").replace(/\.git$/, "");
