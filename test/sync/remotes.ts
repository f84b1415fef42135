/**
 * Real git remotes over HTTP, served by git's own `http-backend`. A code host's interface may be served with them. The
 * password of a request for a repository is checked as a host would check it.
 */

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Remotes {
  url: string;
  /** The folder of bare repositories, such as `<root>/acme/shop.git`. */
  readonly root: string;
  /** The method and address of every request. */
  readonly requests: string[];
  /** Answers requests that are not for a repository. If it returns false, the answer is 404. */
  interface: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Whether a request may read a repository. Default: always. */
  mayRead: (path: string, request: IncomingMessage) => boolean;
  /** The address to which git is redirected for a repository. Default: none. */
  redirect: (path: string) => string | undefined;
  /** Repositories that answer nothing. */
  readonly hanging: Set<string>;
}

/** Serves until the test is over. */
export async function serveRemotes(): Promise<Remotes> {
  const { onTestFinished } = await import("vitest"); // scripts have none
  const remotes = await startRemotes();
  onTestFinished(remotes.close);
  return remotes;
}

export async function startRemotes(): Promise<Remotes & { readonly close: () => void }> {
  const root = mkdtempSync(join(tmpdir(), "quern-remotes-"));
  const remotes: Remotes = {
    url: "",
    root,
    requests: [],
    interface: () => false,
    mayRead: () => true,
    redirect: () => undefined,
    hanging: new Set(),
  };
  const server = createServer((request, response) => {
    remotes.requests.push(`${request.method} ${request.url}`);
    const repository = /^\/(?:a\/)?(.+?)(?:\.git)?\/(?:info\/refs|git-[\w-]+)(?:\?|$)/.exec(
      request.url!,
    );
    if (repository) serveGit(remotes, decodeURIComponent(repository[1]!), request, response);
    else if (!remotes.interface(request, response)) response.writeHead(404).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  remotes.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
    rmSync(root, { recursive: true, force: true });
  };
  return Object.assign(remotes, { close });
}

function serveGit(
  remotes: Remotes,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (remotes.hanging.has(path)) return;
  const location = remotes.redirect(path);
  if (location !== undefined) {
    const [service] = /(info\/refs|git-[\w-]+)(\?.*)?$/.exec(request.url!)!;
    return void response.writeHead(302, { location: `${location}/${service}` }).end();
  }
  if (!remotes.mayRead(path, request)) {
    response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
    return;
  }
  const [address, query = ""] = request.url!.split("?");
  const { headers } = request;
  const service = /\/(info\/refs|git-[\w-]+)$/.exec(address!)![1]!;
  const child = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: remotes.root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: `/${path}.git/${service}`,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: String(headers["content-encoding"] ?? ""),
      GIT_PROTOCOL: String(headers["git-protocol"] ?? ""),
    },
  });
  child.stdin.on("error", () => {});
  request.pipe(child.stdin);
  child.stderr.resume();
  let head = Buffer.alloc(0);
  let isBody = false;
  child.stdout.on("data", (chunk: Buffer) => {
    if (isBody) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    isBody = true;
    for (const line of head.subarray(0, end).toString().split("\r\n")) {
      const [name, value] = line.split(": ") as [string, string];
      if (name === "Status") response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.write(head.subarray(end + 4));
  });
  child.stdout.on("end", () => response.end());
}

/** Returns the password of a request's basic authentication. */
export function passwordOf({ headers }: IncomingMessage): string | undefined {
  const encoded = /^Basic (.*)$/.exec(headers.authorization ?? "")?.[1];
  return encoded && Buffer.from(encoded, "base64").toString().split(":").slice(1).join(":");
}

export type Files = Readonly<Record<string, string>>;

const git = (folder: string, args: readonly string[], input = ""): string =>
  execFileSync("git", args, { cwd: folder, input, encoding: "utf8", stdio: "pipe" });

/** Makes a bare repository with a branch, or adds a commit to it. Resolves to the commit's id. */
export function commit(root: string, path: string, files: Files, branch = "main"): string {
  const folder = join(root, `${path}.git`);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, "HEAD")))
    git(folder, ["init", "--bare", "--quiet", "--initial-branch=main"]);
  const blobs = Object.entries(files).map(
    ([name, text]) => `M 100644 inline ${name}\ndata ${Buffer.byteLength(text)}\n${text}\n`,
  );
  const head = branchHead(folder, branch);
  const stream = [
    `commit refs/heads/${branch}\n`,
    "committer Ada <ada@example.org> 1700000000 +0000\n",
    "data 6\nchange\n",
    head === undefined ? "" : `from ${head}\n`,
    ...blobs,
    "\n",
  ].join("");
  git(folder, ["fast-import", "--quiet", "--force"], stream);
  return branchHead(folder, branch)!;
}

/**
 * Returns the head of a branch. Reads git's own files if possible, because starting a process takes some milliseconds.
 */
function branchHead(folder: string, branch: string): string | undefined {
  const file = join(folder, "refs/heads", branch);
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  if (!existsSync(join(folder, "packed-refs"))) return undefined;
  const text = git(folder, ["for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`]);
  return text.trim() || undefined;
}

/** Runs any git command in a repository of the remotes. */
export const inRepository = (root: string, path: string, ...args: string[]): string =>
  git(join(root, `${path}.git`), args);

export function renameRepository(root: string, from: string, to: string): void {
  mkdirSync(join(root, `${to}.git`, ".."), { recursive: true });
  renameSync(join(root, `${from}.git`), join(root, `${to}.git`));
}

export const removeRepository = (root: string, path: string): void =>
  rmSync(join(root, `${path}.git`), { recursive: true });
