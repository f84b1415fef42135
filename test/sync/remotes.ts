/**
 * Real git remotes over HTTP, served by git's own `upload-pack`. A code host's interface may be served with them. The
 * password of a request for a repository is checked as a host would check it. git's `http-backend` would start two more
 * processes for each request.
 */

import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGunzip } from "node:zlib";

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
  const { onTestFinished } = await import("vitest"); // scripts run without vitest
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
  const repository = join(remotes.root, `${path}.git`);
  if (!existsSync(join(repository, "HEAD"))) return void response.writeHead(404).end();
  uploadPack(repository, request, response);
}

/** Answers as described in git's gitprotocol-http. */
function uploadPack(repository: string, request: IncomingMessage, response: ServerResponse): void {
  const { headers, method } = request;
  const isQuestion = method === "GET"; // requests references or, in version 2, capabilities
  const protocol = String(headers["git-protocol"] ?? "");
  const child = spawn(
    "git",
    ["upload-pack", "--stateless-rpc", ...(isQuestion ? ["--advertise-refs"] : []), repository],
    { env: { PATH: process.env["PATH"], GIT_PROTOCOL: protocol } },
  );
  child.stdin.on("error", () => {});
  const isPacked = headers["content-encoding"] === "gzip";
  (isPacked ? request.pipe(createGunzip()) : request).pipe(child.stdin);
  child.stderr.resume();
  const type = `application/x-git-upload-pack-${isQuestion ? "advertisement" : "result"}`;
  response.writeHead(200, { "content-type": type, "cache-control": "no-cache" });
  if (isQuestion && protocol !== "version=2") response.write("001e# service=git-upload-pack\n0000");
  child.stdout.pipe(response);
}

/** Returns the password of a request's basic authentication. */
export function passwordOf({ headers }: IncomingMessage): string | undefined {
  const encoded = /^Basic (.*)$/.exec(headers.authorization ?? "")?.[1];
  return encoded && Buffer.from(encoded, "base64").toString().split(":").slice(1).join(":");
}

export type Files = Readonly<Record<string, string>>;

const git = (folder: string, args: readonly string[], input = ""): string =>
  execFileSync("git", args, { cwd: folder, input, encoding: "utf8", stdio: "pipe" });

/** The repositories with one commit that this process has made, by their content. Later ones are copies. */
const made = new Map<string, string>();
const templates = mkdtempSync(join(tmpdir(), "quern-template-"));
process.once("exit", () => rmSync(templates, { recursive: true, force: true }));

/** Makes a bare repository with a branch, or adds a commit to it. Returns the commit's id. */
export function commit(root: string, path: string, files: Files, branch = "main"): string {
  const folder = join(root, `${path}.git`);
  if (existsSync(join(folder, "HEAD"))) return addCommit(folder, files, branch);
  const content = JSON.stringify([files, branch]);
  let template = made.get(content);
  if (template === undefined) {
    template = join(templates, String(made.size));
    makeBare(template);
    addCommit(template, files, branch);
    made.set(content, template);
  }
  cpSync(template, folder, { recursive: true });
  return branchHead(folder, branch)!;
}

/** Makes an empty repository as `git init --bare` does. */
function makeBare(folder: string): void {
  for (const name of ["objects", "refs/heads"]) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(folder, "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = true\n");
}

function addCommit(folder: string, files: Files, branch: string): string {
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
