/** Defines the interface of a kind of code host, which makes requests to the host and lists its repositories. */

import { QuernError } from "../../base/errors.ts";
import type { CodeHostType } from "../../store/format/records.ts";
import type { ConnectionConfig, ConnectionType } from "../config/config.ts";
import type { Found, Listed, Problem } from "./found.ts";
import type { HostClient } from "./host-client.ts";

export type ConfigOf<Type extends ConnectionType> = Extract<ConnectionConfig, { type: Type }>;

/** The token of a connection, with the user name that belongs to the token. */
export interface Credential {
  readonly token: string;
  readonly username?: string;
}

export interface ListContext {
  readonly client: HostClient;
  readonly isSignedIn: boolean;
  readonly signal: AbortSignal;
}

export interface Host<Type extends ConnectionType> {
  readonly codeHostType: CodeHostType;
  /** Returns the address of the host's API, or undefined if the host has no API. */
  readonly api: (config: ConfigOf<Type>) => string | undefined;
  readonly headers: (credential: Credential) => Record<string, string>;
  /** Returns the user name that git sends with the token. */
  readonly gitUser: (credential: Credential) => string;
  /**
   * Yields the repositories of a connection, and a problem for each part that could not be listed. Rejects only with
   * ABORTED.
   */
  readonly list: (config: ConfigOf<Type>, context: ListContext) => AsyncGenerator<Listed>;
}

export const bearer = ({ token }: Credential): Record<string, string> => ({
  authorization: `Bearer ${token}`,
});

/**
 * Lists one part of a connection. If the listing fails, yields a problem instead of an error, so that the other parts
 * are still listed.
 */
export async function* part(
  where: string,
  entries: AsyncIterable<Found>,
  isSingle = false,
): AsyncGenerator<Listed> {
  try {
    yield* entries;
  } catch (error) {
    if (!(error instanceof QuernError) || error.code === "ABORTED") throw error;
    const isOne = isSingle && error.code === "SOURCE_NOT_FOUND";
    yield { kind: "problem", where, error, isSingle: isOne } satisfies Problem;
  }
}

export async function* once(ask: () => Promise<Found>): AsyncGenerator<Found> {
  yield await ask();
}

export async function* mapped<T>(
  entries: AsyncIterable<T>,
  toFound: (entry: T) => Found | undefined,
): AsyncGenerator<Found> {
  for await (const entry of entries) {
    const found = toFound(entry);
    if (found !== undefined) yield found;
  }
}
