/**
 * Defines the only error type of this library. Programs switch on `code`. The message is for people and says what to
 * do. If anything else is thrown, there is a bug in this library.
 */

/**
 * The codes of errors, on which programs can switch. The list is complete. A new code is added only with a new minor
 * version.
 *
 * @example
 * const mine: readonly ErrorCode[] = ["QUERY_SYNTAX", "REGEX_SYNTAX", "REGEX_TOO_LARGE"];
 */
export type ErrorCode =
  | "INVALID_REQUEST" // an option or a field of the request has the wrong type or is out of range
  | "QUERY_SYNTAX" // the query cannot be parsed; `position` says where
  | "REGEX_SYNTAX" // a regular expression cannot be parsed; `position` says where in the query
  | "REGEX_TOO_LARGE" // a regular expression exceeds a limit of quern or of RE2
  | "CONTEXT_NOT_FOUND" // `context:` names a set of repositories that the host does not know
  | "SOURCE_NOT_FOUND" // the path of a source does not exist
  | "SOURCE_UNREADABLE" // the path of a source exists but cannot be read
  | "NOT_A_GIT_REPOSITORY"
  | "REVISION_NOT_FOUND"
  | "GIT_MISSING" // there is no git command on the PATH
  | "INVALID_GIT_REF" // a revision that was passed to history is malformed or does not exist
  | "HISTORY_NOT_AVAILABLE" // the repository has no git history, or its clone is gone
  | "FILE_TOO_LARGE" // the requested file, difference or other output of git exceeds a limit
  | "BINARY_FILE"
  | "INDEX_NOT_FOUND" // the engine was opened read-only, and the data directory does not exist
  | "INDEX_LOCKED" // another process is writing
  | "INDEX_VERSION" // the index has another format version
  | "INDEX_CORRUPT" // stored bytes violate the format of the index
  | "INDEX_READ_ONLY" // a write was attempted through a read-only engine or on a read-only disk
  | "DISK_FULL"
  | "PERMISSION_DENIED"
  | "ENGINE_CLOSED"
  | "ABORTED" // the caller's signal aborted the call
  | "CURSOR_EXPIRED" // the cursor `after` is from another version of quern, or its repository is gone; ask for page one
  | "OVERLOADED" // a limit is reached, of searches on the nodes of a cluster or of open files; try again
  | "DUPLICATE_ID" // the id or hash of a new token is already in the store
  | "INTERNAL"; // a bug in quern, or a worker that died

/**
 * The only error that this library throws or rejects with.
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
  /** Always "QuernError". Compare this name where instanceof fails, such as across realms or copies of the package. */
  override readonly name: "QuernError";
  /** The code, on which programs can switch. In contrast, `message` is for people and may change. */
  readonly code: ErrorCode;
  /** The position in the query, in UTF-16 code units. Only errors with QUERY_SYNTAX and REGEX_* can have a position. */
  readonly position?: number;
  /**
   * The names of the repositories whose changes index() or remove() had published before it failed. Searches see these
   * changes. Empty for all other errors.
   */
  readonly published: readonly string[];

  /**
   * Creates an error. The constructor is public because the stores and sources of hosts have to throw errors with the
   * codes that their contracts define.
   */
  constructor(
    code: ErrorCode,
    message: string,
    options: {
      /** The error that caused this one. */
      cause?: unknown;
      /** The position in the query, in UTF-16 code units. */
      position?: number;
      /** The names of the repositories that were published before the failure. */
      published?: readonly string[];
    } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    // not an initializer: with one, the class would have no name of its own under CommonJS
    this.name = "QuernError";
    this.code = code;
    this.published = options.published ?? [];
    if (options.position !== undefined) this.position = options.position;
  }
}

/** Returns the error of a call with a wrong argument. */
export const invalid = (message: string): QuernError => new QuernError("INVALID_REQUEST", message);

export const closedError = () =>
  new QuernError("ENGINE_CLOSED", "this engine is closed: open the directory again");

/** Asserts a condition that the preceding code guarantees. Never used for the input of users or for stored bytes. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new QuernError("INTERNAL", `assertion failed: ${message}`);
}
