/**
 * Lists the repositories, languages and folders to which a search can be narrowed. Each is shown with the number of
 * files that match. Several values of a list can be selected, and values can be excluded.
 */

import type { SearchAddress } from "../frame/address.ts";
import { useAsked } from "../frame/asked.ts";
import { Icon } from "../frame/icons.tsx";
import { usePage } from "../frame/page-context.ts";
import { PlainText, plainText } from "../frame/plain-text.tsx";
import type { Facet, Facets } from "../wire/answers.ts";
import { FACET_VALUES, requestOf } from "./live-search.ts";
import { facetValuesIn, withFacetValues, type FacetKind, type FacetValues } from "./query-text.ts";

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
  kind: FacetKind;
  title: string;
  facet: Facet;
  address: SearchAddress;
}

const NO_VALUES: FacetValues = { only: [], without: [] };

function Values({ kind, title, facet, address }: ValuesProps) {
  const chosen = facetValuesIn(address.query, kind);
  const { values, more } = useAllValues({ kind, facet, address }, chosen);
  if (values.length === 0) return null;
  return (
    <section class="facet">
      <h2>
        {title} <span class="unit">files</span>
      </h2>
      <ul>
        {values.map((one) => (
          <Value key={one.value} {...one} {...{ kind, chosen, address }} />
        ))}
      </ul>
      {more > 0 && <p class="muted">and {more.toLocaleString("en")} more</p>}
    </section>
  );
}

/**
 * Returns the values of a facet. If the query selects or excludes some of them, asks the server for all values of the
 * query without this choice, because the answer counts only what is left.
 */
function useAllValues(
  { kind, facet, address }: Omit<ValuesProps, "title">,
  chosen: FacetValues,
): Facet {
  const { client } = usePage();
  const isChosen = chosen.only.length + chosen.without.length > 0;
  const query = withFacetValues(address.query, kind, chosen, NO_VALUES);
  const request = { ...requestOf({ ...address, query }), matches: 0, facets: FACET_VALUES };
  const key = isChosen && query.trim() !== "" ? JSON.stringify(request) : undefined;
  const asked = useAsked(key, (signal) => client.search(request, signal));
  if (asked.state !== "there") return facet;
  const { repositories, languages, folders } = asked.value.facets ?? {};
  return { repo: repositories, lang: languages, folder: folders }[kind] ?? facet;
}

interface ValueProps {
  kind: FacetKind;
  value: string;
  fileCount: number;
  chosen: FacetValues;
  address: SearchAddress;
}

const filesIn = (count: number): string =>
  `${count.toLocaleString("en")} ${count === 1 ? "file" : "files"}`;

/** Draws a value with its link that selects it, and its link that excludes it. Each link also undoes itself. */
function Value({ kind, value, fileCount, chosen, address }: ValueProps) {
  const { router } = usePage();
  const name = plainText(value);
  const isOnly = chosen.only.includes(value);
  const isWithout = chosen.without.includes(value);
  const linkTo = (isNowOnly: boolean, isNowWithout: boolean): string => {
    const next = {
      only: toggled(chosen.only, value, isNowOnly),
      without: toggled(chosen.without, value, isNowWithout),
    };
    return router.href({ ...address, query: withFacetValues(address.query, kind, chosen, next) });
  };
  return (
    <li class={isWithout ? "without" : undefined}>
      <a
        href={linkTo(!isOnly, false)}
        aria-current={isOnly ? "true" : undefined}
        aria-label={`${name}: ${filesIn(fileCount)}`}
      >
        <span class="value">
          <PlainText text={value} />
        </span>{" "}
        <span class="count">{fileCount.toLocaleString("en")}</span>
      </a>
      <a
        class="exclude"
        href={linkTo(false, !isWithout)}
        aria-current={isWithout ? "true" : undefined}
        aria-label={`${isWithout ? "Include" : "Exclude"} ${name}`}
        title={isWithout ? "Include again" : "Exclude"}
      >
        <Icon name={isWithout ? "plus" : "minus"} />
      </a>
    </li>
  );
}

function toggled(values: readonly string[], value: string, isIn: boolean): string[] {
  const others = values.filter((one) => one !== value);
  return isIn ? [...others, value] : others;
}
