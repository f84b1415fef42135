/**
 * Derives the name of a repository on its code host from the address of its remote. For example,
 * `git@github.com:acme/docs.git` and `https://github.com/acme/docs` both become `github.com/acme/docs`. User names,
 * passwords and ports are left out, because everyone who may search can see the name.
 */

import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { throwIfAborted } from "../base/abort.ts";
import { GitProcesses } from "./git-process.ts";

/** Returns the name for an address, or undefined if the address contains no host, as in a local path. */
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

/**
 * Parses an address such as `user@host:path`, as git does. If there is a slash before the first colon, or nothing but
 * a drive letter, the address is a local path.
 */
function fromScp(address: string): Address | undefined {
  const found = /^(?:[^/:@]+@)?([^/:@]{2,}):([^:].*)$/s.exec(address);
  return found ? { host: found[1]!, path: found[2]! } : undefined;
}

/**
 * Resolves to the repository's name, which is derived from the address of the remote `origin`. If the repository has
 * only one remote, that remote is used, whatever its name is. This reads only git's configuration, and does not use
 * the network.
 */
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

/**
 * Resolves to the name that the repository in a folder has on its code host. Resolves to undefined if there is no
 * repository, or if its remotes give no name.
 */
export async function readRemote(folder: string, signal: AbortSignal): Promise<string | undefined> {
  throwIfAborted(signal);
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined) return undefined;
  // do not search the parent folders
  const finder = new GitProcesses(real, signal, { GIT_CEILING_DIRECTORIES: dirname(real) });
  try {
    return await readRemoteName(finder);
  } catch (error) {
    if (signal.aborted) throw error;
    finder.throwIfOver(); // otherwise open() would wait for a silent git once more
    return undefined; // if git cannot be started, open() reports the reason
  } finally {
    finder.kill();
  }
}
