/** Defines what each kind of code host implements: how requests are made, and how its repositories are listed. */

import { QuernError } from "../../base/errors.ts";
import type { CodeHostType } from "../../store/format/records.ts";
import type { ConnectionConfig, ConnectionType } from "../config/config.ts";
import type { Found, Listed, Problem } from "./found.ts";
import type { HostClient } from "./host-client.ts";

export type ConfigOf<Type extends ConnectionType> = Extract<ConnectionConfig, { type: Type }>;

/** The credential of the caller. */
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
  /** Returns the address of its API. Undefined if it has none. */
  readonly api: (config: ConfigOf<Type>) => string | undefined;
  readonly headers: (credential: Credential) => Record<string, string>;
  /** The user name that git sends with the token. */
  readonly gitUser: (credential: Credential) => string;
  /** Yields its repositories, and the lists that failed. Rejects only with ABORTED. */
  readonly list: (config: ConfigOf<Type>, context: ListContext) => AsyncGenerator<Listed>;
}

export const bearer = ({ token }: Credential): Record<string, string> => ({
  authorization: `Bearer ${token}`,
});

/** Lists one part of a connection. If that fails, yields the failure, so that the other parts continue. */
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
