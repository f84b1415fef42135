/** What narrows a search: repositories, languages and folders of the files shown, with their numbers. */

import type { SearchAddress } from "../frame/address.ts";
import { usePage } from "../frame/page-context.ts";
import { PlainText, plainText } from "../frame/plain-text.tsx";
import type { Facets, FacetValue } from "./facets.ts";
import { addFilter, filterFor, hasFilter, removeFilter } from "./query-text.ts";

interface FacetListProps {
  facets: Facets;
  address: SearchAddress;
  /** Whether there are files that are not counted yet. */
  isPart: boolean;
}

export function FacetList({ facets, address, isPart }: FacetListProps) {
  const { repositories, languages, folders } = facets;
  return (
    <aside class="facets" aria-label="Narrow the search">
      <details open={matchMedia("(min-width: 56rem)").matches}>
        <summary>Filters</summary>
        {isPart && <p class="muted">Of the files shown so far</p>}
        <Facet kind="repo" title="Repository" values={repositories} address={address} />
        <Facet kind="lang" title="Language" values={languages} address={address} />
        <Facet kind="folder" title="Folder" values={folders} address={address} />
      </details>
    </aside>
  );
}

interface FacetProps {
  kind: "repo" | "lang" | "folder";
  title: string;
  values: readonly FacetValue[];
  address: SearchAddress;
}

const SHOWN = 12;

const filesIn = (count: number): string =>
  `${count.toLocaleString("en")} ${count === 1 ? "file" : "files"}`;

function Facet({ kind, title, values, address }: FacetProps) {
  const { router } = usePage();
  if (values.length === 0) return null;
  return (
    <section class="facet">
      <h2>{title}</h2>
      <ul>
        {values.slice(0, SHOWN).map(({ value, files }) => {
          const filter = filterFor(kind, value);
          const isOn = hasFilter(address.query, filter);
          const change = isOn ? removeFilter : addFilter;
          const to = { ...address, query: change(address.query, filter) };
          return (
            <li key={value}>
              <a
                href={router.href(to)}
                aria-current={isOn ? "true" : undefined}
                aria-label={`${plainText(value)}: ${filesIn(files)}`}
              >
                <span class="value">
                  <PlainText text={value} />
                </span>
                <span class="count">{files.toLocaleString("en")}</span>
              </a>
            </li>
          );
        })}
      </ul>
      {values.length > SHOWN && <p class="muted">and {values.length - SHOWN} more</p>}
    </section>
  );
}
