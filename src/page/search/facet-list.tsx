/**
 * Lists the repositories, languages and folders to which a search can be narrowed. Each is shown with the number of
 * files that would be left.
 */

import type { SearchAddress } from "../frame/address.ts";
import { usePage } from "../frame/page-context.ts";
import { PlainText, plainText } from "../frame/plain-text.tsx";
import type { Facet, Facets } from "../wire/answers.ts";
import { addFilter, filterFor, hasFilter, removeFilter } from "./query-text.ts";

interface FacetListProps {
  facets: Facets;
  address: SearchAddress;
  /** Whether only the files shown so far are counted. */
  isPart: boolean;
}

export function FacetList({ facets, address, isPart }: FacetListProps) {
  const { repositories, languages, folders } = facets;
  const isEmpty = [repositories, languages, folders].every(({ values }) => values.length === 0);
  return (
    <aside class="facets" aria-label="Narrow the search">
      <details hidden={isEmpty} open={matchMedia("(min-width: 56rem)").matches}>
        <summary>Filters</summary>
        {isPart && <p class="muted">Of the files shown so far</p>}
        <Values kind="repo" title="Repository" facet={repositories} address={address} />
        <Values kind="lang" title="Language" facet={languages} address={address} />
        <Values kind="folder" title="Folder" facet={folders} address={address} />
      </details>
    </aside>
  );
}

interface ValuesProps {
  kind: "repo" | "lang" | "folder";
  title: string;
  facet: Facet;
  address: SearchAddress;
}

const filesIn = (count: number): string =>
  `${count.toLocaleString("en")} ${count === 1 ? "file" : "files"}`;

function Values({ kind, title, facet: { values, more }, address }: ValuesProps) {
  const { router } = usePage();
  if (values.length === 0) return null;
  return (
    <section class="facet">
      <h2>{title}</h2>
      <ul>
        {values.map(({ value, fileCount }) => {
          const filter = filterFor(kind, value);
          const isOn = hasFilter(address.query, filter);
          const change = isOn ? removeFilter : addFilter;
          const to = { ...address, query: change(address.query, filter) };
          return (
            <li key={value}>
              <a
                href={router.href(to)}
                aria-current={isOn ? "true" : undefined}
                aria-label={`${plainText(value)}: ${filesIn(fileCount)}`}
              >
                <span class="value">
                  <PlainText text={value} />
                </span>
                <span class="count">{fileCount.toLocaleString("en")}</span>
              </a>
            </li>
          );
        })}
      </ul>
      {more > 0 && <p class="muted">and {more.toLocaleString("en")} more</p>}
    </section>
  );
}
