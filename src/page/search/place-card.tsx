/** Draws one place that a question describes, with the reasons why it is shown. */

import { useMemo } from "preact/hooks";
import type { FileView } from "../frame/address.ts";
import { usePage } from "../frame/page-context.ts";
import { PlainText, plainText } from "../frame/plain-text.tsx";
import type { DescribedPlace } from "../wire/answers.ts";
import { Block } from "./line-block.tsx";
import { linesOf } from "./lines.ts";
import { useColour } from "./use-colour.ts";
import { useNear } from "./use-near.ts";

const REASONS_SHOWN = 4;

export function PlaceCard({ place }: { place: DescribedPlace }) {
  const { router } = usePage();
  const [ref, isNear] = useNear<HTMLElement>();
  const colour = useColour(place.language, isNear);
  const shown = useMemo(() => linesOf({ ...place.chunk, matchRanges: [] }), [place.chunk]);
  const { repository, path, revision, language, definition, lines, others = [] } = place;
  const address: FileView = {
    view: "file",
    repository,
    path,
    ...(revision !== undefined && revision !== "HEAD" && { ref: revision }),
  };
  const label = `${plainText(path)} in ${plainText(repository)}`;
  return (
    <article ref={ref} class="card" data-place aria-label={label}>
      <h2 class="card-head">
        <a data-result href={router.href({ ...address, lines })}>
          <span class="repository">
            <PlainText text={repository} />
          </span>
          <span class="path">
            <PlainText text={path} />
          </span>
        </a>
        {definition && (
          <span class="definition">
            <span class="muted">{definition.kind}</span>{" "}
            <code>
              <PlainText text={nameOf(definition)} />
            </code>
          </span>
        )}
        {language !== "" && <span class="tag">{language}</span>}
      </h2>
      <Reasons place={place} />
      <Block lines={shown} address={address} colour={colour} />
      {others.length > 0 && (
        <p class="others muted">
          Also at{" "}
          {others.map((other, index) => (
            <span key={other.from}>
              {index > 0 && ", "}
              <a href={router.href({ ...address, lines: other })}>
                {other.from === other.to ? `line ${other.from}` : `lines ${other.from}–${other.to}`}
              </a>
            </span>
          ))}
        </p>
      )}
    </article>
  );
}

const nameOf = ({ name, parent }: Required<DescribedPlace>["definition"]): string =>
  parent === undefined ? name : `${parent.name}.${name}`;

const WHAT: Readonly<Record<string, string>> = {
  name: "file name",
  path: "folder",
  definition: "definition",
  comment: "comment",
  words: "text",
  factor: "ranked lower",
};

function Reasons({ place: { reasons } }: { place: DescribedPlace }) {
  if (reasons.length === 0) return null;
  return (
    <ul class="reasons" aria-label="Why this place">
      {reasons.slice(0, REASONS_SHOWN).map(({ what, detail }) => (
        <li key={`${what} ${detail}`}>
          <span class="muted">{WHAT[what] ?? what}:</span> <PlainText text={detail} />
        </li>
      ))}
    </ul>
  );
}
