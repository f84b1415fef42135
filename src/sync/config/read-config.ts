/**
 * Reads a configuration: JSON with comments and trailing commas. All errors are reported together, each
 * with its place. A message repeats from the file only what cannot be a misplaced secret: names of fields,
 * never values.
 */

import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { z } from "zod";
import { nearestWord } from "../../base/edit-distance.ts";
import { QuernError } from "../../base/errors.ts";
import { isGone } from "../../base/folder-errors.ts";
import type { ConnectionConfig, SyncConfig } from "./config.ts";
import { CONFIG_SCHEMA } from "./config-schema.ts";
import { parseWithComments } from "./parse.ts";

/**
 * Reads a configuration of `quern sync`: JSON with comments. Rejects with SOURCE_NOT_FOUND if the file does
 * not exist, and with INVALID_REQUEST and the place if its content is wrong.
 *
 * @example
 * const config = await readSyncConfig("./quern.json");
 * await syncConnections(engine, config);
 */
export async function readSyncConfig(path: string): Promise<SyncConfig> {
  const file = resolve(path);
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    const [code, why] = isGone(cause)
      ? (["SOURCE_NOT_FOUND", "there is no"] as const)
      : (["SOURCE_UNREADABLE", "cannot read the"] as const);
    throw new QuernError(code, `${why} file ${file}; give the configuration's path`, { cause });
  });
  const { connections, ...rest } = checkConfig(await parseWithComments(file, text), file);
  const resolved = Object.entries(connections).map(([name, connection]) => [
    name,
    withPath(connection, dirname(file)),
  ]);
  return { ...rest, connections: Object.fromEntries(resolved) as SyncConfig["connections"] };
}

const withPath = (connection: ConnectionConfig, folder: string): ConnectionConfig =>
  connection.type === "folder"
    ? { ...connection, path: resolve(folder, connection.path) }
    : connection;

/** Checks a configuration. `whose` is the file, or the call that was given an object. */
export function checkConfig(value: unknown, whose: string): SyncConfig {
  const checked = CONFIG_SCHEMA.safeParse(value);
  if (checked.success) return checked.data;
  const lines = checked.error.issues.flatMap((issue) => describe(issue, value));
  throw invalid(`${whose}: ${lines.join("; ")}`);
}

type Issue = z.core.$ZodIssue;

function describe(issue: Issue, value: unknown): string[] {
  const place = issue.path.map(String).join(".") || "the configuration";
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => `${place}: unknown field ${JSON.stringify(key)}${advice(key)}`);
  if (issue.code === "invalid_union") return [`${place} must be one of ${TYPES.join(", ")}`];
  if (issue.code === "invalid_key")
    return issue.issues.map(({ message }) => `${place}: ${message}`);
  if (issue.code !== "invalid_type") return [`${place}: ${issue.message}`];
  const isMissing = at(value, issue.path) === undefined;
  return [isMissing ? `${place} is missing` : `${place} must be ${article(issue.expected)}`];
}

const TYPES: readonly ConnectionConfig["type"][] = [
  "github",
  "gitlab",
  "gitea",
  "bitbucket",
  "azuredevops",
  "gerrit",
  "git",
  "folder",
];

const WORDS = (
  "connections sync every parallel removeAfter stallTimeout type url urls api orgs users groups " +
  "workspaces projects repos all path depth token env username name public include exclude names " +
  "topics archived forks largerThanMB branches tags webhook secret"
).split(" ");

function advice(key: string): string {
  const nearest = nearestWord(key, WORDS);
  if (nearest === undefined) return "";
  return nearest === key ? ", which belongs elsewhere" : `; did you mean ${nearest}?`;
}

const article = (expected: string): string =>
  /^[aeio]/.test(expected) ? `an ${expected}` : `a ${expected}`;

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as Readonly<Record<PropertyKey, unknown>>)[key];
  }
  return found;
}

const invalid = (message: string): QuernError => new QuernError("INVALID_REQUEST", message);
