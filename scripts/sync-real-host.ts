/**
 * Walks sync through a real Gitea or Forgejo, which is started with a database of its own on loopback, and
 * says what it has seen:
 *
 *     npx tsx scripts/sync-real-host.ts PATH-TO-GITEA
 *
 * Ends with 1 where something is not as it should be. Build the kernel and the workers first.
 */

import { walkGitea } from "../test/sync/gitea-walk.ts";

const [binary] = process.argv.slice(2);
if (binary === undefined) {
  console.error("usage: npx tsx scripts/sync-real-host.ts PATH-TO-GITEA");
  process.exitCode = 2;
} else await walkGitea(binary, (line) => console.log(line));
