/**
 * Reads a configuration file, which is JSON with comments and trailing commas. One error reports up to 20 wrong
 * fields.
 */

import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { QuernError } from "../../base/errors.ts";
import { isGone } from "../../base/folder-errors.ts";
import { checkedFile } from "../../validation/file-complaints.ts";
import type { ConnectionConfig, SyncConfig } from "./config.ts";
import { CONFIG_SCHEMA } from "./config-schema.ts";
import { parseWithComments } from "./parse.ts";

/**
 * Reads a configuration of `quern sync`, which is JSON with comments. Rejects with SOURCE_NOT_FOUND if the file does
 * not exist, and with INVALID_REQUEST and the position if its content is wrong.
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

/** Checks a configuration. `whose` names the file, or the function that was called with the configuration. */
export function checkConfig(value: unknown, whose: string): SyncConfig {
  const checked = checkedFile(CONFIG_SCHEMA, value, "the configuration");
  if ("data" in checked) return checked.data;
  throw new QuernError("INVALID_REQUEST", `${whose}: ${checked.complaint}`);
}
