/** What the tests of sources share: they read a listing to its end, as one line per entry. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import type {
  Content,
  Entry,
  Indexed,
  ListedRevision,
  Source,
} from "../../src/ingest/sources/source.ts";

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

export function tempFolder(files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "quern-ingest-"));
  folders.push(folder);
  writeFiles(folder, files);
  return folder;
}

export function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** Runs git with fixed names and dates, and without the configuration of this machine. */
export function git(folder: string, ...args: string[]): string {
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "A",
    GIT_AUTHOR_EMAIL: "a@example.com",
    GIT_COMMITTER_NAME: "C",
    GIT_COMMITTER_EMAIL: "c@example.com",
    GIT_AUTHOR_DATE: "2024-01-02T03:04:05Z",
    GIT_COMMITTER_DATE: "2024-01-02T03:04:05Z",
  };
  const settings = [
    "protocol.file.allow=always",
    "advice.detachedHead=false",
    "maintenance.auto=false", // which each commit would start a process for
  ];
  return execFileSync("git", [...settings.flatMap((one) => ["-c", one]), ...args], {
    cwd: folder,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}

/** Makes a repository with one commit on 'main'. */
export function repository(files: Record<string, string>, ...init: string[]): string {
  const folder = tempFolder();
  git(folder, "init", "-q", "-b", "main", ...init);
  commit(folder, files);
  return folder;
}

export function commit(folder: string, files: Record<string, string> = {}): string {
  writeFiles(folder, files);
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "--allow-empty", "-m", "m");
  return git(folder, "rev-parse", "HEAD");
}

export interface Read {
  readonly revisions: readonly ListedRevision[];
  readonly entries: readonly Entry[];
}

export interface ReadOptions {
  readonly indexed?: Indexed;
  readonly maxFileSize?: number;
  readonly signal?: AbortSignal;
}

/** Reads a listing. If `withContent` is true, contents are read, too: those of a batch at the same time. */
export async function read(source: Source, options: ReadOptions = {}): Promise<Read> {
  const listing = await source.open(options.indexed ?? { revisions: [] }, {
    signal: options.signal ?? new AbortController().signal,
    maxFileSize: options.maxFileSize ?? 2 << 20,
  });
  try {
    const entries: Entry[] = [];
    for await (const batch of listing.entries()) entries.push(...batch);
    return { revisions: listing.revisions, entries };
  } finally {
    await listing.close();
  }
}

/** Returns the entries with their contents, one per line: `a.txt @0,1 "text"`. */
export async function readLines(source: Source, options: ReadOptions = {}): Promise<string[]> {
  const listing = await source.open(options.indexed ?? { revisions: [] }, {
    signal: options.signal ?? new AbortController().signal,
    maxFileSize: options.maxFileSize ?? 2 << 20,
  });
  try {
    const lines: string[] = [];
    for await (const batch of listing.entries())
      lines.push(...(await Promise.all(batch.map(show))));
    return lines;
  } finally {
    await listing.close();
  }
}

async function show(entry: Entry): Promise<string> {
  const start = `${entry.path} @${entry.revisions.join(",")}`;
  if (entry.kind === "file") return `${start} ${JSON.stringify(await text(entry.content))}`;
  return entry.kind === "skipped" ? `${start} ${entry.reason}` : `${start} removed`;
}

export async function bytesOf(content: Content): Promise<Uint8Array> {
  if ("bytes" in content) return content.bytes;
  return "file" in content ? readFile(content.file) : content.read();
}

async function text(content: Content): Promise<string> {
  try {
    return Buffer.from(await bytesOf(content)).toString();
  } catch (error) {
    return `${(error as { code?: string }).code}`;
  }
}
