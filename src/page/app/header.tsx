/**
 * Draws the bar at the top of the page. It contains a link to the start page, the search box, and the button for
 * help.
 */

import { SearchBox } from "../search/search-box.tsx";
import { usePage } from "../frame/page-context.ts";

export function Header({ onHelp, onSignOut }: { onHelp: () => void; onSignOut: () => void }) {
  const { client, router, service } = usePage();
  return (
    <header class="header">
      <a class="brand" href={router.href({ view: "home" })}>
        <Mark />
        <span>{service}</span>
      </a>
      <SearchBox />
      <div class="header-actions">
        {client.hasKey() && (
          <button type="button" class="quiet" onClick={onSignOut}>
            Sign out
          </button>
        )}
        <button
          type="button"
          class="quiet square"
          aria-label="Help: keys and queries"
          onClick={onHelp}
        >
          ?
        </button>
      </div>
    </header>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <circle cx="14" cy="14" r="12" />
      <circle class="hole" cx="14" cy="14" r="3.5" />
      <path class="groove" d="M14 5v5M14 18v5M5 14h5M18 14h5" />
      <path class="handle" d="M23 23l7 7" />
    </svg>
  );
}
