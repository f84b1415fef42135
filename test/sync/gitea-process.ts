/**
 * Starts a real Gitea or Forgejo from a given binary, with a database of its own in a new folder, on loopback, without
 * mail, cron jobs and checks for updates.
 */

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface GiteaProcess {
  readonly url: string;
  /** A token of the administrator, ada, for everything. */
  readonly token: string;
  /** Returns what the server has logged so far. */
  readonly log: () => string;
  /** Returns a token of a user with only these scopes, such as 'read:repository'. */
  readonly tokenFor: (user: string, scopes: string) => string;
  readonly close: () => Promise<void>;
}

const START_MS = 120_000;

export async function startGitea(given: string): Promise<GiteaProcess> {
  const binary = resolve(given);
  const folder = mkdtempSync(join(tmpdir(), "quern-gitea-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  mkdirSync(join(folder, "custom/conf"), { recursive: true });
  writeFileSync(join(folder, "custom/conf/app.ini"), settings({ binary, folder, port }));
  const env = {
    ...process.env,
    HOME: folder,
    GITEA_WORK_DIR: folder,
    FORGEJO_WORK_DIR: folder,
    GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: "true", // processes in containers often run as root
    FORGEJO_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: "true",
  };
  const admin = (...args: string[]): string =>
    execFileSync(binary, ["admin", "user", ...args], {
      env,
      cwd: folder,
      encoding: "utf8",
      stdio: "pipe",
    });
  const logFile = join(folder, "log");
  const out = openSync(logFile, "a");
  const child = spawn(binary, ["web"], { env, cwd: folder, stdio: ["ignore", out, out] });
  const log = () => readFileSync(logFile, "utf8");
  const close = async (): Promise<void> => {
    await ended(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await answering(`${url}/api/v1/version`, child, log);
    const tokenFor = (user: string, scopes: string): string =>
      admin(
        "generate-access-token",
        "--username",
        user,
        "--token-name",
        scopes,
        "--scopes",
        scopes,
        "--raw",
      )
        .trim()
        .split("\n")
        .at(-1)!;
    admin(...NEW_USER, "ada", "--email", "ada@example.org", "--admin");
    return { url, token: tokenFor("ada", "all"), log, tokenFor, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const NEW_USER = ["create", "--must-change-password=false", "--random-password", "--username"];

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

async function answering(address: string, child: ChildProcess, log: () => string): Promise<void> {
  for (const until = Date.now() + START_MS; Date.now() < until; await sleep(200)) {
    if (child.exitCode !== null) break;
    if ((await fetch(address).catch(() => undefined))?.ok) return;
  }
  throw new Error(`the server did not start:\n${log().slice(-2_000)}`);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const over = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const killer = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await over;
  clearTimeout(killer);
}

interface Place {
  readonly binary: string;
  readonly folder: string;
  readonly port: number;
}

function settings({ binary, folder, port }: Place): string {
  const source = dirname(binary); // a binary of a plain build reads its templates from there
  const templates = existsSync(join(source, "templates")) ? `STATIC_ROOT_PATH = ${source}` : "";
  return `
APP_NAME = quern test
RUN_MODE = prod
[server]
PROTOCOL = http
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
DOMAIN = 127.0.0.1
ROOT_URL = http://127.0.0.1:${port}/
DISABLE_SSH = true
OFFLINE_MODE = true
LFS_START_SERVER = false
${templates}
[database]
DB_TYPE = sqlite3
PATH = ${join(folder, "gitea.db")}
[repository]
ROOT = ${join(folder, "repositories")}
[security]
INSTALL_LOCK = true
[service]
DISABLE_REGISTRATION = true
[webhook]
ALLOWED_HOST_LIST = loopback
[cron]
ENABLED = false
[cron.update_checker]
ENABLED = false
[indexer]
ISSUE_INDEXER_TYPE = db
[mailer]
ENABLED = false
[session]
PROVIDER = memory
[log]
MODE = console
LEVEL = Info
`;
}
