/** Defines the description of a repository that a code host lists. It has the same form for all hosts. */

import type { QuernError } from "../../base/errors.ts";

export interface Found {
  readonly kind: "repository";
  /**
   * The id of the repository, unique in its connection. On hosts with permanent ids, a renamed repository keeps its
   * id.
   */
  readonly id: string;
  /** The name that people use, such as `acme/shop`. */
  readonly path: string;
  /**
   * The name of the host, which becomes a part of the repository's name in the index. Empty if the repository is a
   * local clone without a remote.
   */
  readonly host: string;
  readonly place: Place;
  readonly webUrl?: string;
  /** The short name of the default branch. If absent, git asks the remote. */
  readonly defaultBranch?: string;
  readonly archived?: boolean;
  readonly fork?: boolean;
  readonly public?: boolean;
  readonly stars?: number;
  readonly bytes?: number;
  readonly topics?: readonly string[];
}

export type Place =
  /** The address to fetch from, without a secret. */
  | { readonly kind: "remote"; readonly url: string }
  /** A clone that another program maintains, which is read in place. */
  | { readonly kind: "folder"; readonly path: string };

/** A part of a connection that could not be listed. */
export interface Problem {
  readonly kind: "problem";
  /** The field and the value that name the part in the configuration, such as `orgs: acme`. */
  readonly where: string;
  readonly error: QuernError;
  /** Whether the part is a single repository that does not exist. If so, the rest of the list is complete. */
  readonly isSingle: boolean;
}

export type Listed = Found | Problem;
