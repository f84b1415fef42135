/**
 * Lists the definitions of a file, in the order of its text. The definitions come from a search for symbols that is
 * limited to this file.
 */

import { useMemo } from "preact/hooks";
import type { FileView } from "../frame/address.ts";
import { useAsked } from "../frame/asked.ts";
import { useDrawn } from "../frame/drawn.ts";
import { usePage } from "../frame/page-context.ts";
import { PlainText } from "../frame/plain-text.tsx";
import { filterFor, quoteValue } from "../search/query-text.ts";
import type { FileResult } from "../wire/answers.ts";
import { nest, type Definition, type FoundDefinition } from "./nested-definitions.ts";

const MOST_DEFINITIONS = 2000;
const DRAWN_IN_FRAME = 150;

export function Outline({ address }: { address: FileView }) {
  const { client } = usePage();
  const query = outlineQuery(address);
  const asked = useAsked(query, async (signal) => {
    const { files } = await client.search({ query, matches: MOST_DEFINITIONS }, signal);
    const { ref } = address;
    const file = files.find(({ branches = [] }) => ref === undefined || branches.includes(ref));
    return definitionsOf(file ?? files[0]);
  });
  if (asked.state !== "there" || asked.value.length === 0) return null;
  return (
    <aside class="side" aria-label="Definitions">
      <details open={matchMedia("(min-width: 70rem)").matches}>
        <summary>Definitions</summary>
        <Definitions list={query} definitions={asked.value} address={address} />
      </details>
    </aside>
  );
}
interface DefinitionsProps {
  /** A text that identifies the list. */
  list: string;
  definitions: readonly Definition[];
  address: FileView;
}

function Definitions({ list, definitions, address }: DefinitionsProps) {
  const { router } = usePage();
  const drawn = useDrawn({ list, count: definitions.length, step: DRAWN_IN_FRAME });
  const addressOf = (line: number): string =>
    router.href({ ...address, lines: { from: line, to: line } });
  // an entry that is the same object as before is not drawn again
  const entries = useMemo(
    () =>
      definitions.map(({ name, kind, line, depth }) => (
        <li key={`${line} ${name}`} class={`depth-${depth}`}>
          <a href={addressOf(line)}>
            <span class={`kind kind-${kind}`}>{kind}</span>
            <span class="name">
              <PlainText text={name} />
            </span>
          </a>
        </li>
      )),
    [definitions, addressOf(1)],
  );
  return <ul class="outline">{entries.slice(0, drawn)}</ul>;
}

function outlineQuery({ repository, ref, path }: FileView): string {
  const revision = ref === undefined || ref === "HEAD" ? "" : ` rev:${quoteValue(ref)}`;
  return `sym:^.+$ ${filterFor("repo", repository)} ${filterFor("file", path)}${revision}`;
}

/** Returns the definitions of a file, each below its parent. Each range of the search result is one name. */
function definitionsOf(file: FileResult | undefined): Definition[] {
  const found: FoundDefinition[] = [];
  for (const { matchRanges, symbols = [] } of file?.chunks ?? [])
    for (const [index, { symbol, kind, parent }] of symbols.entries()) {
      const line = matchRanges[index]?.start.lineNumber;
      if (line !== undefined) found.push({ symbol, kind, parent, line });
    }
  return nest(found);
}
