/** Defines what a code host says about a repository, in the same form for all hosts. */

import type { QuernError } from "../../base/errors.ts";

export interface Found {
  readonly kind: "repository";
  /**
   * The host's id of the repository, unique in a connection. If the host has such ids, a renamed repository keeps its
   * id.
   */
  readonly id: string;
  /** The name that people use, such as `acme/shop`. */
  readonly path: string;
  /** The host's part of the name in the index; '' for a folder. */
  readonly host: string;
  readonly place: Place;
  readonly webUrl?: string;
  /** The short name of the default branch. If absent, the remote is asked. */
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

/** Something that could not be listed. */
export interface Problem {
  readonly kind: "problem";
  /** The field and value in the configuration, such as `orgs: acme`. */
  readonly where: string;
  readonly error: QuernError;
  /** Whether it is a single repository that does not exist, so that the rest of the list is complete. */
  readonly isSingle: boolean;
}

export type Listed = Found | Problem;
