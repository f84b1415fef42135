/**
 * Makes the card that is shown while the pointer is over a name: the signature of its definition, the comment that
 * documents it, and where it is. Screen readers get the same from the panel of the name.
 */

import { LruCache } from "../../base/lru-cache.ts";
import { plainText } from "../frame/plain-text.tsx";
import type { Client } from "../wire/client.ts";
import { signatureAt } from "./signature.ts";
import { definitionsAt, firstOf, type NameInFile } from "./symbol-request.ts";

const SOURCES_KEPT = 20;
const MOST_CHARACTERS = 600;

export type CardOf = (asked: NameInFile) => Promise<HTMLElement | undefined>;

/** Returns the function that makes cards. It keeps the text of recent files. */
export function cardMaker(client: Client): CardOf {
  const sources = new LruCache<string, Promise<string[]>>({ most: SOURCES_KEPT });
  const linesOf = (repository: string, path: string, ref?: string): Promise<string[]> =>
    sources.getOrMake(JSON.stringify([repository, path, ref]), async () => {
      const { source } = await client.source({ repository, path, ref });
      return source.split(/\r?\n/);
    });
  return async (asked) => {
    const found = await definitionsAt(client, asked);
    const target = found && firstOf(found.targets);
    if (found === undefined || target === undefined) return undefined;
    const { repository, fileName, range } = target;
    const { lineNumber } = range.start;
    const lines = await linesOf(repository, fileName, asked.ref);
    const { code, comment } = signatureAt(lines, lineNumber);
    const count = found.targets.reduce((sum, { matches }) => sum + matches.length, 0);
    const others = count > 1 ? `, and ${count - 1} more` : "";
    return drawCard([
      ["code", code],
      ["comment", comment],
      ["place", `${fileName}:${lineNumber}${others} · ${certaintyOf(target.certainty)}`],
    ]);
  };
}

const certaintyOf = (certainty = ""): string => (certainty === "resolved" ? "certain" : certainty);

function drawCard(parts: readonly (readonly [kind: string, text: string])[]): HTMLElement {
  const card = document.createElement("div");
  card.className = "name-card";
  for (const [kind, text] of parts) {
    if (text === "") continue;
    const part = document.createElement(kind === "code" ? "pre" : "div");
    part.className = `name-${kind}`;
    part.textContent = plainText(text, MOST_CHARACTERS);
    card.append(part);
  }
  return card;
}
