/**
 * Shows where a symbol is defined and where it is used. The uses of the symbol at a place are grouped by how certain
 * they are. Without a place, or in a language without rules, all places that have the name are shown.
 */

import { useState } from "preact/hooks";
import type { FileView } from "../frame/address.ts";
import { useAsked, type Asking } from "../frame/asked.ts";
import { Icon } from "../frame/icons.tsx";
import { usePage } from "../frame/page-context.ts";
import { PlainText, plainText } from "../frame/plain-text.tsx";
import type { Certainty, SymbolAnswer, SymbolFile } from "../wire/answers.ts";
import { Refused, wordsOf, type Client } from "../wire/client.ts";
import { Places } from "./symbol-places.tsx";
import { placeRequest } from "./symbol-request.ts";

interface SymbolPanelProps {
  name: string;
  language: string;
  address: FileView;
}

export function SymbolPanel({ name, language, address }: SymbolPanelProps) {
  const { client, router } = usePage();
  const { repository, ref, at } = address;
  const key = JSON.stringify([name, language, repository, ref, at]);
  const asked = useAsked(key, (signal) =>
    at === undefined
      ? byName(client, { name, language, address }, signal)
      : atPlace(client, { name, language, address }, signal),
  );
  const { name: _, at: __, ...withoutName } = address;
  const onClose = (): void => router.go(withoutName, "replace");
  return (
    <aside class="side panel" aria-label={`Definitions and uses of ${plainText(name)}`}>
      <div class="panel-head">
        <h2>
          <code>
            <PlainText text={name} />
          </code>
        </h2>
        <button type="button" class="quiet square" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <Symbol key={key} asked={asked} address={address} />
    </aside>
  );
}

/** The definitions and the uses of a symbol. */
interface Uses {
  definitions: SymbolAnswer;
  uses: SymbolAnswer;
}

/** Resolves to all places that have the name of a symbol. Another repository may define what this one does not. */
async function byName(
  client: Client,
  { name, language, address: { repository, ref } }: SymbolPanelProps,
  signal: AbortSignal,
): Promise<Uses> {
  const request = { symbolName: name, ...(language !== "" && { language }) };
  const here = {
    ...request,
    repoName: repository,
    ...(ref !== undefined && { revisionName: ref }),
  };
  const [inRepository, uses] = await Promise.all([
    client.definitions(here, signal),
    client.references(here, signal),
  ]);
  const isHere = inRepository.stats.matchCount > 0;
  return { definitions: isHere ? inRepository : await client.definitions(request, signal), uses };
}

/** Resolves to the places that mean the symbol at a place, or to those of its name if this symbol is not known. */
async function atPlace(
  client: Client,
  asked: SymbolPanelProps,
  signal: AbortSignal,
): Promise<Uses> {
  const { name, address } = asked;
  const uses = await client
    .references(placeRequest({ ...address, name, at: address.at! }), signal)
    .catch((error: unknown) => {
      if (error instanceof Refused && error.status === 400) return undefined;
      throw error;
    });
  const targets = uses?.targets ?? [];
  if (uses === undefined || targets.length === 0) return byName(client, asked, signal);
  return { definitions: { ...uses, files: targets }, uses };
}

function Symbol({ asked, address }: { asked: Asking<Uses>; address: FileView }) {
  if (asked.state === "waiting") return <p class="muted">Loading …</p>;
  if (asked.state === "failed") return <p class="error">{wordsOf(asked.error)}</p>;
  const { definitions, uses } = asked.value;
  return (
    <>
      <Places title="Definitions" files={definitions.files} address={address} />
      {uses.targets === undefined ? (
        <>
          <Places
            title="All places with this name"
            files={uses.files}
            count={uses.stats.matchCount}
            address={address}
          />
          <p class="muted">Found by the name alone: some places may mean another symbol.</p>
        </>
      ) : (
        <CertainUses first={uses} address={address} />
      )}
    </>
  );
}

const CERTAINTIES: readonly (readonly [Certainty, title: string, what: string])[] = [
  ["resolved", "Certain uses", "The rules of the language lead from here to the definition"],
  ["likely", "Likely uses", "The file can know only one declaration of this name"],
  ["possible", "Possible uses", "Only the name is known"],
];

/** Shows the uses of a symbol by their certainty. Places of which only the name is known are folded. */
function CertainUses({ first, address }: { first: SymbolAnswer; address: FileView }) {
  const { client } = usePage();
  const [pages, setPages] = useState([first]);
  const { nextCursor } = pages.at(-1)!;
  const { counts, leftOut } = first;
  const files = pages.flatMap((page) => page.files);
  const onMore = async (): Promise<void> => {
    const asked = placeRequest({ ...address, name: address.name!, at: address.at! });
    const next = await client.references({ ...asked, after: nextCursor! });
    setPages([...pages, next]);
  };
  return (
    <>
      {first.stats.matchCount === 0 && (
        <p class="muted">No use was found. Reflection and other repositories are not seen.</p>
      )}
      {CERTAINTIES.map(([certainty, title, what]) => {
        const count = counts?.[certainty] ?? 0;
        const places = <Places files={filesWith(files, certainty)} address={address} />;
        if (count === 0) return null;
        return (
          <details key={certainty} class="uses" open={certainty !== "possible"}>
            <summary title={what}>
              {title} <span class="muted">{count.toLocaleString("en")}</span>
            </summary>
            {places}
          </details>
        );
      })}
      {nextCursor !== undefined && (
        <button type="button" class="quiet" onClick={() => void onMore()}>
          Show more uses
        </button>
      )}
      {leftOut && <LeftOut {...leftOut} />}
      {!first.isSearchExhaustive && nextCursor === undefined && (
        <p class="muted">Not all files were read: there may be more uses.</p>
      )}
    </>
  );
}

/** Returns the files with only their matches of a certainty. */
const filesWith = (files: readonly SymbolFile[], certainty: Certainty): SymbolFile[] =>
  files
    .map((file) => ({
      ...file,
      matches: file.matches.filter((match) => match.certainty === certainty),
    }))
    .filter(({ matches }) => matches.length > 0);

function LeftOut({ otherDeclarations, comments, strings }: Required<SymbolAnswer>["leftOut"]) {
  const parts = [
    ...(otherDeclarations > 0 ? [`${otherDeclarations} of other declarations`] : []),
    ...(comments > 0 ? [`${comments} in comments`] : []),
    ...(strings > 0 ? [`${strings} in texts`] : []),
  ];
  return parts.length === 0 ? null : <p class="muted">Left out: {parts.join(", ")}.</p>;
}
