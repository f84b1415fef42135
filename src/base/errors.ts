/**
 * The one error type. Callers switch on `code`; the message is for people and says what to do.
 * Anything thrown that is not a QuernError is a bug in this library.
 */

/**
 * The codes of errors, for programs. The list is closed: a new code comes with a new minor version.
 *
 * @example
 * const mine: readonly ErrorCode[] = ["QUERY_SYNTAX", "REGEX_SYNTAX", "REGEX_TOO_LARGE"];
 */
export type ErrorCode =
  | "INVALID_REQUEST" // an option or a field of the request is of the wrong type or out of range
  | "QUERY_SYNTAX" // the query does not parse; `position` is where
  | "REGEX_SYNTAX" // a regular expression does not parse; `position` is where in the query
  | "REGEX_TOO_LARGE" // a regular expression is over our limits or RE2's
  | "CONTEXT_NOT_FOUND" // `context:` names a set the host does not know
  | "SOURCE_NOT_FOUND" // the path of a source does not exist
  | "SOURCE_UNREADABLE" // the path of a source exists and cannot be read
  | "NOT_A_GIT_REPOSITORY"
  | "REVISION_NOT_FOUND"
  | "GIT_MISSING" // no git command on the PATH
  | "INVALID_GIT_REF" // a revision that history was asked for cannot be one, or does not exist
  | "HISTORY_NOT_AVAILABLE" // the repository has no git history here
  | "FILE_TOO_LARGE" // what was asked for is over the limit
  | "BINARY_FILE"
  | "INDEX_NOT_FOUND" // read-only, and no data directory there
  | "INDEX_LOCKED" // another process writes
  | "INDEX_VERSION" // written by another format version
  | "INDEX_CORRUPT" // stored bytes break the format's own rules
  | "INDEX_READ_ONLY" // a write through an engine or on a disk that may only be read
  | "DISK_FULL"
  | "PERMISSION_DENIED"
  | "ENGINE_CLOSED"
  | "ABORTED" // the caller's signal
  | "CURSOR_EXPIRED" // `after` is a cursor of another version, or its repository is gone: begin again
  | "DUPLICATE_ID" // a token store was given an id or hash it holds
  | "INTERNAL"; // a bug of ours, or a worker that died

/**
 * The error that this library throws or rejects with, always.
 *
 * @example
 * try {
 *   await engine.search({ query: "a or or b", matches: 10 });
 * } catch (error) {
 *   if (error instanceof QuernError && error.code === "QUERY_SYNTAX")
 *     console.error(error.message, error.position);
 * }
 */
export class QuernError extends Error {
  /** Always this: for who cannot use instanceof, across realms or copies of the package. */
  override readonly name = "QuernError";
  /** To switch on; `message` is for people, and may change. */
  readonly code: ErrorCode;
  /** UTF-16 position in the query, for QUERY_SYNTAX and REGEX_*. */
  readonly position?: number;

  /** For a host's own sources and stores, which throw the codes that their contracts name. */
  constructor(
    code: ErrorCode,
    message: string,
    options: {
      /** What was thrown below. */
      cause?: unknown;
      /** UTF-16 position in the query. */
      position?: number;
    } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    if (options.position !== undefined) this.position = options.position;
  }
}

export const closedError = () =>
  new QuernError("ENGINE_CLOSED", "this engine is closed: open the directory again");

/** Asserts what the code before it guarantees. Never used for user input or stored bytes. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new QuernError("INTERNAL", `assertion failed: ${message}`);
}
