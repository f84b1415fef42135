/** What fronts ask of nodes: POST with a body of encode(), answered in kind. */

import { QuernError, type ErrorCode } from "../../base/errors.ts";
import type { FileContent, FolderEntry, Repository } from "../../repository.ts";
import type { ExplainedPlan } from "../../search/caller/explain.ts";
import type { Heads, HeadsPage, HeadToShow, ShownHeads } from "../../search/caller/heads.ts";
import type { SearchRequest } from "../../search/messages/request.ts";

/**
 * A part of the index at one of its states: shard, generation, and number of the slice. With `viewerBits`
 * only some repositories are seen: bit i is that of the shard's i-th repository by id at this generation.
 */
export type SliceAsked = readonly [
  shard: number,
  generation: number,
  slice: number,
  viewerBits?: Uint8Array,
];

/** What every call has. */
export interface OnSlices {
  readonly slices: readonly SliceAsked[];
}

/** What every call has that runs a query. */
interface Asked extends OnSlices {
  readonly request: SearchRequest;
  /** The repositories of each `context:` of the query. Absent: it has none. */
  readonly contexts?: ReadonlyMap<string, ReadonlySet<string>>;
  /** Milliseconds that are left; absent: no limit. */
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

export interface DescribeCall extends OnSlices {
  /** Ids. */
  readonly repositories: readonly number[];
}

/** What only a node that holds files knows of a repository; of its files in the slices alone. */
export type Described = Pick<Repository, "symbols" | "skipped">;

/** By path. */
export interface Calls {
  "/v1/search": { readonly asked: SearchCall; readonly answer: Heads };
  "/v1/show": { readonly asked: ShowCall; readonly answer: ShownHeads };
  "/v1/explain": { readonly asked: Asked; readonly answer: ExplainedPlan };
  "/v1/read": { readonly asked: PlaceCall; readonly answer: { readonly file?: FileContent } };
  "/v1/list": { readonly asked: PlaceCall; readonly answer: { readonly entries?: FolderEntry[] } };
  "/v1/describe": {
    readonly asked: DescribeCall;
    readonly answer: ReadonlyMap<number, Described>;
  };
  /** Answered when the node has ready what was published before the call. */
  "/v1/refresh": { readonly asked: OnSlices; readonly answer: Record<string, never> };
}

export const STREAM = "/v1/stream";
export type StreamCall = Asked;

/** A refusal on the wire. */
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

/** Statuses of answers. */
export const STATUS = {
  OK: 200,
  /** Whoever asks does not know the secret, or its clock is wrong. */
  UNKNOWN: 401,
  NO_SUCH_CALL: 404,
  /** The node does not have a slice at the generation: another replica may. */
  NOT_READY: 409,
  /** The search itself was refused; any other node would refuse it, too. */
  REFUSED: 422,
  /**
   * As many searches run as may. Not 503, which a node that closes and a proxy before a dead one answer: their
   * slices are lost, and the search goes on without them if no replica has them.
   */
  OVERLOADED: 429,
} as const;
