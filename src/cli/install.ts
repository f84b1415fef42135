/** Does the work of quern install: enters quern in the configuration of coding agents, and removes it again. */

import { randomUUID } from "node:crypto";
import { mkdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { invalid } from "../base/errors.ts";
import {
  CLIENT_NAMES,
  CLIENTS,
  type ClientFile,
  type ClientName,
  fileOf,
  type Home,
  type ServerEntry,
} from "./agent-clients.ts";
import { guideIn, guideOut } from "./agent-guide.ts";
import { type Io, printJson, printLines } from "./io.ts";
import { jsonEntry, withJsonEntry, withoutJsonEntry } from "./json-entry.ts";
import { table, visible } from "./style.ts";
import { tomlEntry, withoutTomlEntry, withTomlEntry } from "./toml-entry.ts";

export interface InstallFlags {
  path?: string[];
  name: string;
  command?: string;
  project?: true;
  agentsMd?: true;
  undo?: true;
  print?: true;
  dryRun?: true;
  json?: true;
}

/** Writes quern into the files of clients, or removes it, or only says what it would do. */
export async function install(
  clients: readonly ClientName[],
  flags: InstallFlags,
  io: Io,
): Promise<void> {
  const home = { ...homeOf(io), project: process.cwd() };
  if (clients.length === 0 && !flags.agentsMd) return list(home, io);
  const files = clients.map((client) => ({ client, file: configured(client, flags, home) }));
  const server = serverOf(flags);
  if (flags.print) return print(files, server, flags, io);
  // all files are read and checked before the first is written
  const changes = await Promise.all([
    ...files.map(({ client, file }) => changeOf(CLIENTS[client].title, file, server, flags)),
    ...(flags.agentsMd ? [changeOfGuide(home, flags)] : []),
  ]);
  if (!flags.dryRun) for (const change of changes) await write(change);
  show(changes, flags, io);
}

const homeOf = ({ env }: Io): Omit<Home, "project"> => ({
  platform: process.platform,
  home: env["HOME"] || homedir(),
  env,
});

function configured(client: ClientName, { project }: InstallFlags, home: Home): ClientFile {
  const file = fileOf(client, project ? "project" : "user", home);
  if (file) return file;
  throw invalid(`${CLIENTS[client].title} has no file for a project; leave out --project`);
}

/** Returns what a client starts. A client may start it in any folder, so all paths are absolute. */
function serverOf({ command, path = ["."] }: InstallFlags): ServerEntry {
  const own = [process.execPath, resolve(process.argv[1]!)];
  const [program = "", ...first] = command?.split(/\s+/).filter((word) => word !== "") ?? own;
  if (program === "") throw invalid("--command must not be empty");
  return { command: program, args: [...first, "mcp", ...path.map((one) => resolve(one))] };
}

/** A change of a file. */
interface Change {
  readonly title: string;
  readonly path: string;
  /** The text of the file, or undefined if there is no file. */
  readonly before: string | undefined;
  readonly after: string;
}

async function changeOf(
  title: string,
  { path, format, table: fields, entry }: ClientFile,
  server: ServerEntry,
  { name, undo }: InstallFlags,
): Promise<Change> {
  const before = await textOf(path);
  const text = before ?? (format === "toml" ? "" : "{}\n");
  const place = { file: path, table: fields, name };
  const known = format === "toml" ? tomlEntry(text, place) : await jsonEntry(text, place);
  const value = entry(server);
  if (known !== undefined && !isDeepStrictEqual(known, value) && !startsQuern(known))
    throw invalid(
      `${path}: the server ${name} is another program; choose another name with --name`,
    );
  if (format === "toml") {
    const after = undo ? withoutTomlEntry(text, place) : withTomlEntry(text, place, server);
    return { title, path, before, after };
  }
  const after = undo ? withoutJsonEntry(text, place) : withJsonEntry(text, place, value);
  return { title, path, before, after: await after };
}

/** Whether an entry that is already there is one of quern's, so that it may be replaced and removed. */
const startsQuern = (entry: unknown): boolean =>
  /quern/.test(JSON.stringify(entry)) && /\bmcp\b/.test(JSON.stringify(entry));

async function changeOfGuide({ project }: Home, { undo }: InstallFlags): Promise<Change> {
  const path = join(project, "AGENTS.md");
  const before = await textOf(path);
  const after = undo ? guideOut(before ?? "") : guideIn(before ?? "");
  return { title: "AGENTS.md", path, before, after };
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

const isChange = ({ before = "", after }: Change): boolean => before !== after;

/** Replaces a file at once, so that no client reads a half. A link stays a link, and rights stay as they are. */
async function write(change: Change): Promise<void> {
  if (!isChange(change)) return;
  const { before, after } = change;
  await mkdir(dirname(change.path), { recursive: true });
  const path = before === undefined ? change.path : await realpath(change.path);
  const mode = before === undefined ? 0o600 : (await stat(path)).mode & 0o777;
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, after, { mode });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

function show(changes: readonly Change[], { undo, dryRun, json }: InstallFlags, io: Io): void {
  if (json)
    return printJson(
      io,
      changes.map((change) => ({ path: change.path, changed: isChange(change) })),
    );
  const done = dryRun
    ? undo
      ? "would be removed from"
      : "would be written to"
    : undo
      ? "removed from"
      : "written to";
  const lines = changes.map((change) =>
    isChange(change)
      ? `${change.title}: ${done} ${visible(change.path)}`
      : `${change.title}: nothing to ${undo ? "remove from" : "change in"} ${visible(change.path)}`,
  );
  printLines(io.stdout, lines);
}

async function list(home: Home, io: Io): Promise<void> {
  const rows = CLIENT_NAMES.map(async (client) => {
    const { path } = fileOf(client, "user", home)!;
    const isThere = (await textOf(path).catch(() => "")) !== undefined;
    return [client, visible(path), isThere ? "" : "(does not exist yet)"];
  });
  printLines(io.stdout, table(await Promise.all(rows)));
}

async function print(
  files: readonly { readonly client: ClientName; readonly file: ClientFile }[],
  server: ServerEntry,
  { name }: InstallFlags,
  io: Io,
): Promise<void> {
  for (const { client, file } of files) {
    const place = { file: file.path, table: file.table, name };
    const text =
      file.format === "toml"
        ? withTomlEntry("", place, server)
        : `${await withJsonEntry("{}", place, file.entry(server))}\n`;
    io.stdout.write(`# ${CLIENTS[client].title}: ${visible(file.path)}\n${visible(text)}`);
  }
}
