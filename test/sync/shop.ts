/** A shop's repository on a code host, a connection to it, and an engine to sync into. */

import { serveGitHub } from "./github-server.ts";
import { commit, serveRemotes } from "./remotes.ts";
import { openWorkplace } from "./workplace.ts";

export async function setUp() {
  const remotes = await serveRemotes();
  const github = serveGitHub(remotes);
  const workplace = await openWorkplace();
  commit(remotes.root, "acme/shop", { "a.ts": "needle\n" });
  github.repositories = [{ id: 1, full_name: "acme/shop" }];
  const connection = { type: "github" as const, url: remotes.url, orgs: ["acme"] };
  return { remotes, github, workplace, connection };
}
