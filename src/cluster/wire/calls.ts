/**
 * Defines the calls of fronts to nodes. A call is a POST request, and encode() makes the bodies of requests and
 * answers. Each path begins with the version of the protocol. If the meaning of a call or a query changes, the
 * version must change. If a node does not know a path, the front asks another replica. So machines of different
 * versions never misread each other.
 */

import { QuernError, type ErrorCode } from "../../base/errors.ts";
import type { FileContent, FolderEntry, Repository } from "../../repository.ts";
import type { ExplainedPlan } from "../../search/caller/explain.ts";
import type { Heads, HeadsPage, HeadToShow, ShownHeads } from "../../search/caller/heads.ts";
import type { StreamedFile, StreamStep } from "../../search/caller/stream.ts";
import type { SearchRequest } from "../../search/messages/request.ts";

/**
 * A slice of a shard at one generation. `viewerBits` restricts the call to some repositories of the shard. Bit i
 * stands for the i-th repository, ordered by id, that the shard has at this generation.
 */
export type SliceAsked = readonly [
  shard: number,
  generation: number,
  slice: number,
  viewerBits?: Uint8Array,
];

/** The fields of every call. */
export interface OnSlices {
  readonly slices: readonly SliceAsked[];
}

/** The fields of every call that runs a query. */
interface Asked extends OnSlices {
  readonly request: SearchRequest;
  /** The names of the repositories of each `context:` in the query. Absent if the query has no `context:`. */
  readonly contexts?: ReadonlyMap<string, ReadonlySet<string>>;
  /** The time in milliseconds that is left for the search. Absent if the search has no time limit. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

export interface SearchCall extends Asked {
  readonly page?: HeadsPage;
}

export interface ShowCall extends Asked {
  readonly files: readonly HeadToShow[];
}

export interface PlaceCall extends OnSlices {
  readonly repository: string;
  readonly path: string;
  readonly revision?: string;
}

export type PathsCall = Omit<PlaceCall, "path">;

export interface DescribeCall extends OnSlices {
  /** The ids of the repositories. */
  readonly repositories: readonly number[];
}

/**
 * The facts about a repository that only nodes know. `symbols` covers only the repository's files in the requested
 * slices.
 */
export type Described = Pick<Repository, "symbols" | "skipped">;

/**
 * The heads that a search has found. If there are only a few files, the answer also shows them as /v1/show would. A
 * front that chooses all of these files needs no second call.
 */
export interface Found extends Heads {
  readonly shown?: ShownHeads;
}

/** The input and the answer of each path. */
export interface Calls {
  "/v1/search": { readonly asked: SearchCall; readonly answer: Found };
  "/v1/show": { readonly asked: ShowCall; readonly answer: ShownHeads };
  "/v1/explain": { readonly asked: Asked; readonly answer: ExplainedPlan };
  "/v1/read": { readonly asked: PlaceCall; readonly answer: { readonly file?: FileContent } };
  "/v1/list": { readonly asked: PlaceCall; readonly answer: { readonly entries?: FolderEntry[] } };
  /** The answer has the paths of all files of a revision, in the form of packed-paths.ts. */
  "/v1/paths": { readonly asked: PathsCall; readonly answer: { readonly paths?: Uint8Array } };
  "/v1/describe": {
    readonly asked: DescribeCall;
    readonly answer: ReadonlyMap<number, Described>;
  };
  /** The node answers when everything that was published before the call is ready on it. */
  "/v1/refresh": { readonly asked: OnSlices; readonly answer: Record<string, never> };
}

export const STREAM = "/v1/stream";
export type StreamCall = Asked;

/** The shard of a segment, and the segment's number in that shard. Both numbers are the same on all nodes. */
export type ShardSegment = readonly [shard: number, segment: number];

/** A step of a node's stream. */
export interface SentStep extends StreamStep {
  readonly files: readonly SentFile[];
}

/** A file of a node's stream. `segment` is a number that has a meaning only on this node. */
export interface SentFile extends StreamedFile {
  /** The file's segment. Together with `file`, it identifies the file on all replicas at this generation. */
  readonly origin: ShardSegment;
}

/** An error in the form in which machines transmit it. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly position?: number;
}

export const failureOf = (error: unknown): Failure =>
  error instanceof QuernError
    ? {
        code: error.code,
        message: error.message,
        ...(error.position !== undefined && { position: error.position }),
      }
    : { code: "INTERNAL", message: String(error) };

export const errorOf = ({ code, message, position }: Failure): QuernError =>
  new QuernError(code, message, position === undefined ? {} : { position });

/** The HTTP statuses of answers. */
export const STATUS = {
  OK: 200,
  /** The caller does not know the secret, or its clock is wrong. */
  UNKNOWN: 401,
  NO_SUCH_CALL: 404,
  /** The node does not have a slice at this generation. Another replica may have it. */
  NOT_READY: 409,
  /** The node rejects the search itself. Every other node would reject it, too. */
  REFUSED: 422,
  /**
   * The node is at its limit of searches. The status is not 503, because nodes that are closing and the proxies of
   * dead nodes answer with 503. The slices of such nodes count as lost.
   */
  OVERLOADED: 429,
} as const;
