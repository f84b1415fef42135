/**
 * Runs git commands that contact other machines. Prompts, hooks and file-system monitors are disabled, as for all git
 * commands (src/git/git-process.ts). Submodules, protocols that run programs, and the credential helpers and askpass
 * programs of this machine are disabled as well. A process that writes no output for too long is terminated, together
 * with all processes that it has started.
 *
 * git gets a secret through an environment variable. It runs a credential helper in a shell, and the helper prints
 * the variable with `printf`. So no argument, file or address contains the secret. The helper is configured for one
 * origin, and git sends the secret only there. git does not follow redirects.
 */

import { spawn, type ChildProcess } from "node:child_process";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { aborted } from "../../base/abort.ts";
import { mustHaveStreams } from "../../base/out-of-files.ts";
import { QuernError } from "../../base/errors.ts";
import { cannotStart, gitEnvironment, OWN_CONFIGURATION } from "../../git/git-process.ts";
import { redact, type Variables } from "../config/secrets.ts";

export interface GitCredential {
  /** The only origin that may receive the secret, such as `https://github.com`. */
  readonly origin: string;
  readonly user: string;
  readonly secret: string;
}

export interface RemoteGit {
  /**
   * The folder in which commands run. It is a bare clone, or will become one. git does not search its parent folders
   * for a repository.
   */
  readonly folder: string;
  readonly credential: GitCredential | undefined;
  readonly signal: AbortSignal;
  /** The maximum time that the process may run without output, in milliseconds. */
  readonly stallMs: number;
  /** The disk space that must stay free, in bytes. Default: 1 GiB or a twentieth of the disk, whichever is less. */
  readonly leastFree?: number;
}

export interface RemoteRun {
  /** Whether the command works on the clone in the folder. If not, the command only contacts the remote. */
  readonly inClone?: boolean;
  /** Called with each line of git's progress output. */
  readonly onProgress?: (line: string) => void;
}

/** The maximum number of bytes on standard output. They are enough for a million references. */
const MOST_OUTPUT = 128 << 20;
const MOST_ERRORS = 8_192;
/**
 * The disk space that must stay free, in bytes. On a disk of less than 20 GiB, only a twentieth of the disk must stay
 * free.
 */
const LEAST_FREE = 2 ** 30;
const LOOK_MS = 1_000;
/** The time between SIGTERM and SIGKILL. */
const GRACE_MS = 2_000;

/** Runs a git command. Resolves to its standard output. Rejects with ABORTED, GIT_MISSING or SOURCE_UNREADABLE. */
export async function runRemote(
  args: readonly string[],
  git: RemoteGit,
  run: RemoteRun = {},
): Promise<Buffer> {
  const { signal, stallMs, folder } = git;
  if (signal.aborted) throw aborted(signal);
  const child = spawn("git", [...OWN_CONFIGURATION, ...args], {
    cwd: folder,
    env: environment(git, run.inClone === true),
    windowsHide: true,
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32", // makes the process the leader of a group, which is terminated as a whole
  });
  mustHaveStreams(child);
  const watch = new Watch(child, git);
  const stdout: Buffer[] = [];
  let bytes = 0;
  const errors = new ErrorLines(run.onProgress);
  child.stdout.on("data", (chunk: Buffer) => {
    watch.heard();
    bytes += chunk.length;
    if (bytes <= MOST_OUTPUT) stdout.push(chunk);
    else watch.end();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    watch.heard();
    errors.add(text);
  });
  const code = await watch.over();
  if (signal.aborted) throw aborted(signal);
  const secrets = git.credential === undefined ? [] : [git.credential.secret];
  const fail = (why: string) =>
    new QuernError("SOURCE_UNREADABLE", redact(`git ${args[0]}: ${why}`, secrets));
  if (watch.isFull) throw fail("the disk is nearly full; make room, or exclude the repository");
  if (watch.isStalled)
    throw fail(`the remote sent nothing for ${stallMs / 1_000} s, so the transfer was stopped`);
  if (bytes > MOST_OUTPUT) throw fail(`there are more than ${MOST_OUTPUT} bytes of references`);
  if (code !== 0) throw fail(explain(errors.last()));
  return Buffer.concat(stdout);
}

/**
 * Watches a process. Ends the process if it writes no output for too long, if the disk is nearly full, or if the
 * caller aborts.
 */
class Watch {
  isStalled = false;
  isFull = false;
  readonly #child: ChildProcess;
  readonly #stallMs: number;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => this.end();
  readonly #looking: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  #killer: NodeJS.Timeout | undefined;

  constructor(child: ChildProcess, { stallMs, signal, folder, leastFree }: RemoteGit) {
    this.#child = child;
    this.#stallMs = stallMs;
    this.#signal = signal;
    this.#looking = setInterval(() => void this.#look(folder, leastFree), LOOK_MS).unref();
    signal.addEventListener("abort", this.#onAbort, { once: true });
    this.heard();
  }

  /**
   * Ends the process if too little of the disk is free, because a remote may send an endless amount of data. When git
   * is terminated, it removes its incomplete pack.
   */
  async #look(folder: string, leastFree: number | undefined): Promise<void> {
    const disk = await statfs(folder).catch(() => undefined);
    if (disk === undefined) return; // the folder is being created
    const least = leastFree ?? Math.min(LEAST_FREE, (disk.blocks * disk.bsize) / 20);
    if (disk.bavail * disk.bsize >= least) return;
    this.isFull = true;
    this.end();
  }

  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.isStalled = true;
      this.end();
    }, this.#stallMs);
  }

  end(): void {
    if (this.#killer !== undefined) return;
    kill(this.#child, "SIGTERM");
    this.#killer = setTimeout(() => kill(this.#child, "SIGKILL"), GRACE_MS);
  }

  /** Resolves to the exit code, or to -1 if the process was killed. */
  async over(): Promise<number> {
    try {
      return await new Promise((resolve, reject) => {
        this.#child.once("error", (cause) => reject(cannotStart(cause)));
        this.#child.once("close", (code) => resolve(code ?? -1));
      });
    } finally {
      clearTimeout(this.#timer);
      clearTimeout(this.#killer);
      clearInterval(this.#looking);
      this.#signal.removeEventListener("abort", this.#onAbort);
    }
  }
}

function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid === undefined || process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // the process has already ended
  }
}

/**
 * Splits standard error into lines. Reports progress lines, and keeps the last MOST_ERRORS characters of all other
 * lines.
 */
class ErrorLines {
  #rest = "";
  #kept = "";
  readonly #onProgress: ((line: string) => void) | undefined;

  constructor(onProgress: ((line: string) => void) | undefined) {
    this.#onProgress = onProgress;
  }

  add(text: string): void {
    const lines = (this.#rest + text).split(/[\r\n]/);
    this.#rest = lines.pop()!.slice(-MOST_ERRORS);
    for (const line of lines) this.#take(line);
  }

  #take(line: string): void {
    if (/^(remote: )?[\w ]+: +\d+%? /.test(line)) this.#onProgress?.(line);
    else if (line.trim() !== "") this.#kept = `${this.#kept}${line}\n`.slice(-MOST_ERRORS);
  }

  /** Returns the last lines in which git explains its failure, as one line. */
  last(): string {
    this.#take(this.#rest);
    const lines = this.#kept.trim().split("\n");
    const told = lines.filter((line) => /^(fatal|error|remote|ssh|ERROR)\b/i.test(line));
    return (told.length > 0 ? told : lines)
      .slice(-3)
      .join("; ")
      .replace(/\p{Cc}/gu, " ");
  }
}

/** Adds advice to a message of git if the message matches a pattern of ADVICE. */
function explain(said: string): string {
  const why = said === "" ? "it ended without a message" : said;
  const advice = ADVICE.find(([pattern]) => pattern.test(why))?.[1];
  return advice === undefined ? why : `${why}; ${advice}`;
}

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/could not read (Username|Password)|terminal prompts disabled/i, "give the connection a token"],
  [
    /Authentication failed|HTTP 40[13]|error: 40[13]/i,
    "the token is wrong, expired, or may not read it",
  ],
  [/not found|does not exist|HTTP 404|error: 404/i, "it is gone, or the token may not read it"],
  [/Host key verification failed/i, "connect once by hand, so that the host's key is known"],
  [/Permission denied \(publickey/i, "the SSH agent has no key that the host knows"],
  [
    /error: 30[12378]/i,
    "it redirects, and redirects are not followed, because they may lead anywhere; use the new address in the configuration",
  ],
];

function environment(
  { credential, stallMs, folder }: RemoteGit,
  inClone: boolean,
): NodeJS.ProcessEnv {
  const {
    SSH_ASKPASS: _askpass,
    SSH_ASKPASS_REQUIRE: _require,
    ...rest
  } = gitEnvironment({
    GIT_ALLOW_PROTOCOL: "http:https:ssh:git:file",
    GIT_ASKPASS: "",
    GIT_CEILING_DIRECTORIES: dirname(folder),
    ...(inClone && { GIT_DIR: folder }),
    GIT_SSH_COMMAND: "ssh -o BatchMode=yes",
    ...(credential && { QUERN_GIT_USER: credential.user, QUERN_GIT_SECRET: credential.secret }),
  });
  return { ...rest, ...configuration(rest, settings(credential, stallMs)) };
}

const HELPER = `!printf 'username=%s\\npassword=%s\\n' "$QUERN_GIT_USER" "$QUERN_GIT_SECRET"; true`;

function settings(
  credential: GitCredential | undefined,
  stallMs: number,
): readonly (readonly [string, string])[] {
  return [
    ["credential.helper", ""], // disables the machine's helpers, which would also store the secret
    ...(credential ? [[`credential.${credential.origin}.helper`, HELPER] as const] : []),
    ["core.askPass", ""],
    ["http.followRedirects", "false"], // whoever answers could redirect the fetch to another machine's repository
    ["http.lowSpeedLimit", "1"],
    ["http.lowSpeedTime", String(Math.ceil(stallMs / 1_000))],
    ["gc.auto", "0"], // stops git from repacking after every fetch
    ["maintenance.auto", "false"],
    ["fetch.recurseSubmodules", "false"],
    ["submodule.recurse", "false"],
    ["init.templateDir", ""], // stops git from copying hooks from a template
  ];
}

/**
 * Returns environment variables that add entries to git's configuration. They are numbered after the entries that the
 * environment already has.
 */
function configuration(
  env: Variables,
  added: readonly (readonly [string, string])[],
): Record<string, string> {
  const first = Number(env["GIT_CONFIG_COUNT"] ?? 0) || 0;
  const entries = added.flatMap(([key, value], n) => [
    [`GIT_CONFIG_KEY_${first + n}`, key],
    [`GIT_CONFIG_VALUE_${first + n}`, value],
  ]);
  return {
    ...(Object.fromEntries(entries) as Record<string, string>),
    GIT_CONFIG_COUNT: String(first + added.length),
  };
}
