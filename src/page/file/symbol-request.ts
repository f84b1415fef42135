/** Asks for the definitions and uses of a name at a place. */

import type { NamePlace } from "../frame/address.ts";
import type { SymbolAnswer, SymbolFile, SymbolMatch } from "../wire/answers.ts";
import { Refused, type Client, type SymbolRequest } from "../wire/client.ts";

export interface NameInFile {
  repository: string;
  ref?: string | undefined;
  name: string;
  at: NamePlace;
}

export function placeRequest({ repository, ref, name, at }: NameInFile): SymbolRequest {
  const { path: fileName, line, column } = at;
  const revision = ref === undefined ? {} : { revisionName: ref };
  return { symbolName: name, repoName: repository, ...revision, fileName, line, column };
}

/**
 * Resolves to the definitions of a name. Resolves to undefined if they are not known, because the place is in a
 * comment or the like, or because the language has no rules.
 */
export async function definitionsAt(
  client: Client,
  asked: NameInFile,
): Promise<Required<Pick<SymbolAnswer, "targets">> | undefined> {
  try {
    const { targets } = await client.definitions(placeRequest(asked));
    return targets && { targets };
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

/** Returns the first definition and its file. */
export function firstOf(targets: readonly SymbolFile[]): (SymbolFile & SymbolMatch) | undefined {
  const [file] = targets;
  const [match] = file?.matches ?? [];
  return file && match && { ...file, ...match };
}
