/** Syncs with a real Gitea or Forgejo. If no binary is given, the test is skipped and a printed line says so. */

import { test } from "vitest";
import { walkGitea } from "./gitea-walk.ts";

const binary = process.env["QUERN_GITEA"];
if (binary === undefined)
  console.log(
    "QUERN_GITEA names no binary of Gitea or Forgejo, so sync with a real one is left out",
  );

test.runIf(binary !== undefined)(
  "syncs a real server's lists, owners, renames and deletions, with tokens and webhooks",
  () => walkGitea(binary!, () => {}),
  600_000,
);
