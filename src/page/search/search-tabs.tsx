/** Draws the tabs of the two kinds of search: by the text of the code, and by a description. */

import type { FindView, SearchAddress } from "../frame/address.ts";
import { usePage } from "../frame/page-context.ts";

export function SearchTabs({ address }: { address: SearchAddress | FindView }) {
  const { router } = usePage();
  const { query, view } = address;
  const search: SearchAddress = { view: "search", query, regex: false, matchCase: false };
  return (
    <nav class="tabs" aria-label="Kind of search">
      <a
        href={router.href(view === "search" ? address : search)}
        aria-current={view === "search" ? "page" : undefined}
      >
        Text
      </a>
      <a
        href={router.href({ view: "find", query })}
        aria-current={view === "find" ? "page" : undefined}
      >
        Description
      </a>
    </nav>
  );
}
