/**
 * The name that a repository has on its code host, from the address of its remote:
 * `git@github.com:acme/docs.git` and `https://github.com/acme/docs` are both `github.com/acme/docs`.
 * User names, passwords and ports are left out: the name is shown to everyone who may search.
 */

import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { throwIfAborted } from "../base/abort.ts";
import { GitProcesses } from "./git-process.ts";

/** Returns undefined for what is no address of a host, such as a path on this machine. */
export function remoteName(address: string): string | undefined {
  const isUrl = address.includes("://") && URL.canParse(address);
  const parts = isUrl ? fromUrl(new URL(address)) : fromScp(address);
  if (parts === undefined) return undefined;
  const path = parts.path
    .replace(/^\/+/, "")
    .replace(/\/+$/, "")
    .replace(/\.git$/, "");
  if (path === "" || parts.host === "") return undefined;
  return `${parts.host.toLowerCase()}/${path}`;
}

interface Address {
  readonly host: string;
  readonly path: string;
}

const PROTOCOLS = new Set(["http:", "https:", "ssh:", "git:", "git+ssh:", "ssh+git:"]);

function fromUrl({ protocol, hostname, pathname }: URL): Address | undefined {
  if (!PROTOCOLS.has(protocol)) return undefined;
  try {
    return { host: hostname, path: decodeURIComponent(pathname) };
  } catch {
    return { host: hostname, path: pathname };
  }
}

/** `user@host:path`. As git reads it: a slash before the first colon makes it a path on the disk, and so does a drive letter. */
function fromScp(address: string): Address | undefined {
  const found = /^(?:[^/:@]+@)?([^/:@]{2,}):([^:].*)$/s.exec(address);
  return found ? { host: found[1]!, path: found[2]! } : undefined;
}

/** The name of the remote `origin`, or of the only remote there is. Reads configuration; nothing is asked of the network. */
async function readRemoteName(processes: GitProcesses): Promise<string | undefined> {
  const { code, stdout } = await processes.run(["remote", "--verbose"]);
  if (code !== 0) return undefined;
  const remotes = new Map<string, string>();
  for (const line of stdout.split("\n")) {
    const found = /^([^\t]+)\t(.+) \(fetch\)/.exec(line);
    if (found) remotes.set(found[1]!, found[2]!);
  }
  const address =
    remotes.get("origin") ?? (remotes.size === 1 ? [...remotes.values()][0] : undefined);
  return address === undefined ? undefined : remoteName(address);
}

/** Resolves to the name of the remote of the repository in the folder; undefined where there is none of either. */
export async function readRemote(folder: string, signal: AbortSignal): Promise<string | undefined> {
  throwIfAborted(signal);
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined) return undefined;
  // no search above the folder that was named
  const finder = new GitProcesses(real, signal, { GIT_CEILING_DIRECTORIES: dirname(real) });
  try {
    return await readRemoteName(finder);
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined; // why git does not start is told by open()
  } finally {
    finder.kill();
  }
}
