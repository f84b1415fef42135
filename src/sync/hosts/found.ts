/** What a code host says of a repository, in one form for all hosts. */

import type { QuernError } from "../../base/errors.ts";

export interface Found {
  readonly kind: "repository";
  /** The host's own name for it, which outlives renaming where the host has such. Unique in a connection. */
  readonly id: string;
  /** As people name it: `acme/shop`. */
  readonly path: string;
  /** Host of its name in the index; '' for a folder. */
  readonly host: string;
  readonly place: Place;
  readonly webUrl?: string;
  /** Short name. Where it is absent, the remote itself is asked. */
  readonly defaultBranch?: string;
  readonly archived?: boolean;
  readonly fork?: boolean;
  readonly public?: boolean;
  readonly stars?: number;
  readonly bytes?: number;
  readonly topics?: readonly string[];
}

export type Place =
  /** Fetched from there; the address holds no secret. */
  | { readonly kind: "remote"; readonly url: string }
  /** A clone of somebody else, read where it is. */
  | { readonly kind: "folder"; readonly path: string };

/** Something that could not be listed. */
export interface Problem {
  readonly kind: "problem";
  /** As the configuration names it: `orgs: acme`. */
  readonly where: string;
  readonly error: QuernError;
  /** A single repository that is not there: then the rest of the list is whole. */
  readonly isSingle: boolean;
}

export type Listed = Found | Problem;
