/**
 * Defines the errors with which requests are refused. One table maps error codes to HTTP statuses. Another table maps
 * the errors of the engine to these codes. A message goes to the client, so it contains no stack trace, no local path
 * and no secret. The message for an unexpected error is therefore a constant.
 */

import type { ErrorCode, QuernError } from "../base/errors.ts";

export const STATUS = {
  INVALID_REQUEST_BODY: 400,
  FAILED_TO_PARSE_QUERY: 400,
  INVALID_REPOSITORY_SCOPE: 400,
  INVALID_GIT_REF: 400,
  NOT_AUTHENTICATED: 401,
  INSUFFICIENT_PERMISSIONS: 403,
  NOT_FOUND: 404,
  REPOSITORY_NOT_FOUND: 404,
  FILE_NOT_FOUND: 404,
  HISTORY_NOT_AVAILABLE: 404,
  SEARCH_CONTEXT_NOT_FOUND: 404,
  SCOPED_ACCESS_TOKEN_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  BODY_TOO_LARGE: 413,
  FILE_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  BINARY_FILE: 415,
  EXPECTATION_FAILED: 417,
  HEADERS_TOO_LARGE: 431,
  UNEXPECTED_ERROR: 500,
  OVERLOADED: 503,
} as const;

export type RefusalCode = keyof typeof STATUS;
export type RefusalStatus = (typeof STATUS)[RefusalCode];

/** The body of every error. */
export interface ErrorBody {
  statusCode: RefusalStatus;
  errorCode: RefusalCode;
  message: string;
}

// A read cannot cause the errors of writes and sources, so these are unexpected.
const FROM_ENGINE: Readonly<Record<ErrorCode, RefusalCode>> = {
  INVALID_REQUEST: "INVALID_REQUEST_BODY",
  QUERY_SYNTAX: "FAILED_TO_PARSE_QUERY",
  REGEX_SYNTAX: "FAILED_TO_PARSE_QUERY",
  REGEX_TOO_LARGE: "FAILED_TO_PARSE_QUERY",
  CONTEXT_NOT_FOUND: "SEARCH_CONTEXT_NOT_FOUND",
  INVALID_GIT_REF: "INVALID_GIT_REF",
  HISTORY_NOT_AVAILABLE: "HISTORY_NOT_AVAILABLE",
  FILE_TOO_LARGE: "FILE_TOO_LARGE",
  BINARY_FILE: "BINARY_FILE",
  CURSOR_EXPIRED: "INVALID_REQUEST_BODY",
  OVERLOADED: "OVERLOADED",
  ENGINE_CLOSED: "OVERLOADED",
  ABORTED: "OVERLOADED", // nobody reads the response, because the caller has disconnected
  SOURCE_NOT_FOUND: "UNEXPECTED_ERROR",
  SOURCE_UNREADABLE: "UNEXPECTED_ERROR",
  NOT_A_GIT_REPOSITORY: "UNEXPECTED_ERROR",
  REVISION_NOT_FOUND: "UNEXPECTED_ERROR",
  GIT_MISSING: "UNEXPECTED_ERROR",
  INDEX_NOT_FOUND: "UNEXPECTED_ERROR",
  INDEX_LOCKED: "UNEXPECTED_ERROR",
  INDEX_VERSION: "UNEXPECTED_ERROR",
  INDEX_CORRUPT: "UNEXPECTED_ERROR",
  INDEX_READ_ONLY: "UNEXPECTED_ERROR",
  DISK_FULL: "UNEXPECTED_ERROR",
  PERMISSION_DENIED: "UNEXPECTED_ERROR",
  DUPLICATE_ID: "UNEXPECTED_ERROR",
  INTERNAL: "UNEXPECTED_ERROR",
};

const MESSAGES = {
  NOT_AUTHENTICATED: "a valid credential is required",
  UNEXPECTED_ERROR: "internal error; the operator of this service can see its cause",
  OVERLOADED: "too busy or closing down; try again in a moment",
} as const;

const HEADERS: Partial<Record<RefusalCode, Record<string, string>>> = {
  NOT_AUTHENTICATED: { "WWW-Authenticate": "Bearer" },
  OVERLOADED: { "Retry-After": "1" },
};

/** An error that any code of a route may throw. The handler converts it to a response. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: RefusalCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: RefusalCode, message: string, options: RefusalOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.headers = { ...HEADERS[code], ...options.headers };
  }
}

interface RefusalOptions {
  cause?: unknown;
  headers?: Record<string, string>;
}

/** Returns the refusal for an invalid credential. It does not say why the credential is invalid. */
export const notAuthenticated = (cause?: unknown): Refusal =>
  new Refusal("NOT_AUTHENTICATED", MESSAGES.NOT_AUTHENTICATED, { cause });

export const overloaded = (): Refusal => new Refusal("OVERLOADED", MESSAGES.OVERLOADED);

/** Converts anything that was thrown to a refusal. */
export function toRefusal(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown;
  const code = isQuernError(thrown) ? FROM_ENGINE[thrown.code] : "UNEXPECTED_ERROR";
  const options = { cause: thrown };
  if (code === "UNEXPECTED_ERROR" || code === "OVERLOADED")
    return new Refusal(code, MESSAGES[code], options);
  return new Refusal(code, withPosition(thrown as QuernError), options);
}

// a QuernError is recognized by its name, because the engine may come from another copy of the package (CommonJS next
// to ESM)
function isQuernError(thrown: unknown): thrown is QuernError {
  const isNamed = thrown instanceof Error && thrown.name === "QuernError" && "code" in thrown;
  return isNamed && Object.hasOwn(FROM_ENGINE, String(thrown.code));
}

export function errorBody({ code, message }: Refusal): ErrorBody {
  return { statusCode: STATUS[code], errorCode: code, message };
}

/**
 * Adds the position to the first line of the engine's message. The message marks the position with a caret, but a
 * client may need the number.
 */
function withPosition({ message, position }: QuernError): string {
  return position === undefined ? message : message.replace(/$|\n/, ` (at position ${position})$&`);
}
