/** Formats errors for people. The text consists of the error code, what is wrong, and what to do. */

import { QuernError, type ErrorCode } from "../base/errors.ts";

/** What to do after each error. The advice is empty if the messages with this code already say what to do. */
const ADVICE: Readonly<Record<ErrorCode, string>> = {
  INVALID_REQUEST: "",
  QUERY_SYNTAX: "",
  REGEX_SYNTAX: "",
  REGEX_TOO_LARGE: "",
  CONTEXT_NOT_FOUND: "only a host can define saved sets of repositories; use repo: or reposet:",
  SOURCE_NOT_FOUND: "",
  SOURCE_UNREADABLE: "",
  NOT_A_GIT_REPOSITORY: "",
  REVISION_NOT_FOUND: "",
  INVALID_GIT_REF: "git branch --all and git tag list them",
  HISTORY_NOT_AVAILABLE: "",
  FILE_TOO_LARGE: "",
  BINARY_FILE: "",
  GIT_MISSING: "",
  INDEX_NOT_FOUND: "quern index PATH makes an index; --db DIR or QUERN_DB names another directory",
  INDEX_LOCKED: "",
  INDEX_VERSION: "",
  INDEX_CORRUPT: "",
  INDEX_READ_ONLY: "",
  DISK_FULL: "",
  PERMISSION_DENIED: "",
  ENGINE_CLOSED: "",
  ABORTED: "stopped; everything indexed before is unchanged",
  CURSOR_EXPIRED: "",
  OVERLOADED: "",
  DUPLICATE_ID: "",
  INTERNAL: "this is a bug in quern, unless a worker died",
};

/** What to do after errors of the operating system. */
const SYSTEM_ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE:
    "another program uses this port: end it, or choose another port with --port (0 is any free one)",
  EADDRNOTAVAIL: "this machine does not have this address: choose one of its own with --host",
  EACCES: "permission denied: ports below 1024 and files of other users need more rights",
  ENOTFOUND: "no machine has this name: check its spelling, and whether the network works",
  ECONNREFUSED:
    "no program listens at this address: check host and port, and whether the service runs",
};

/** The message that a person sees after pressing Ctrl-C. */
export const STOPPED_WORDS = "quern: stopped; everything published before is unchanged\n";

/** Formats an error, without a stack trace. */
export function describeError(error: unknown): string {
  const { code, message } = codeAndMessage(error);
  const advice = code in ADVICE ? ADVICE[code as ErrorCode] : (SYSTEM_ADVICE[code] ?? "");
  return `quern: ${code}: ${message}\n${advice === "" ? "" : `  ${advice}\n`}`;
}

function codeAndMessage(error: unknown): { code: string; message: string } {
  if (error instanceof QuernError) return error;
  if (!(error instanceof Error)) return { code: "INTERNAL", message: String(error) };
  // errors of the operating system keep their code, such as EADDRINUSE
  const isSystem = "code" in error && "syscall" in error;
  return { code: isSystem ? String(error.code) : "INTERNAL", message: error.message };
}
