/** What a kind of code host is to the rest: how it is asked, how its repositories are listed. */

import { QuernError } from "../../base/errors.ts";
import type { CodeHostType } from "../../store/format/records.ts";
import type { ConnectionConfig, ConnectionType } from "../config/config.ts";
import type { Found, Listed, Problem } from "./found.ts";
import type { HostClient } from "./host-client.ts";

export type ConfigOf<Type extends ConnectionType> = Extract<ConnectionConfig, { type: Type }>;

/** Who asks. */
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
  /** Where its interface is; undefined where it has none. */
  readonly api: (config: ConfigOf<Type>) => string | undefined;
  /** What a request carries to prove who asks. */
  readonly headers: (credential: Credential) => Record<string, string>;
  /** The user name that git gives with the token. */
  readonly gitUser: (credential: Credential) => string;
  /** Its repositories, and what could not be listed. Rejects with ABORTED alone. */
  readonly list: (config: ConfigOf<Type>, context: ListContext) => AsyncGenerator<Listed>;
}

export const bearer = ({ token }: Credential): Record<string, string> => ({
  authorization: `Bearer ${token}`,
});

/** One part of a connection: its failure is told, and the others go on. */
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

/** A list of one. */
export async function* once(ask: () => Promise<Found>): AsyncGenerator<Found> {
  yield await ask();
}

/** Each entry as a repository. */
export async function* mapped<T>(
  entries: AsyncIterable<T>,
  toFound: (entry: T) => Found | undefined,
): AsyncGenerator<Found> {
  for await (const entry of entries) {
    const found = toFound(entry);
    if (found !== undefined) yield found;
  }
}
