/**
 * Tests sync with a real Gitea or Forgejo, which is started on loopback with a new database, and prints what happens:
 *
 *     npx tsx scripts/sync-real-host.ts PATH-TO-GITEA
 *
 * Exits with 1 if something is not as it should be. Build the kernel and the workers first.
 */

import { walkGitea } from "../test/sync/gitea-walk.ts";

const [binary] = process.argv.slice(2);
if (binary === undefined) {
  console.error("usage: npx tsx scripts/sync-real-host.ts PATH-TO-GITEA");
  process.exitCode = 2;
} else await walkGitea(binary, (line) => console.log(line));
