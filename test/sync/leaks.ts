/** Finds places that contain a token, in every form in which it is sent. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The users with which the token is sent to git or to a code host. */
const USERS = [
  "",
  "x-access-token",
  "oauth2",
  "x-token-auth",
  "x-bitbucket-api-token-auth",
  "ada",
  "ada@example.org",
  "quern",
];

const forms = (token: string): string[] => [
  token,
  encodeURIComponent(token),
  Buffer.from(token).toString("base64"),
  ...USERS.map((user) => Buffer.from(`${user}:${token}`).toString("base64")),
];

export const holds = (text: string, token: string): boolean =>
  forms(token).some((form) => text.includes(form));

/** Returns the files below a folder that contain the token. */
export function filesWith(folder: string, token: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  assert.ok(files.length > 5);
  return files
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => holds(readFileSync(file, "latin1"), token));
}

/** Returns the command lines of all processes. */
export function commandLines(): string {
  const numbers = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return numbers
    .map((number) => {
      try {
        return readFileSync(`/proc/${number}/cmdline`, "latin1").replaceAll("\0", " ");
      } catch {
        return ""; // the process has ended
      }
    })
    .join("\n");
}
