/**
 * Draws the bar at the top of the page. It contains a link to the start page, the search box, and the button for
 * help.
 */

import { useState } from "preact/hooks";
import { Icon } from "../frame/icons.tsx";
import { chooseTheme, themeNow, THEMES } from "../frame/theme.ts";
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
        <ThemeSwitch />
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

const THEME_ICONS = { automatic: "halves", light: "sun", dark: "moon" } as const;

/** Draws the button that changes the theme: automatic, light, dark, and again. */
function ThemeSwitch() {
  const [theme, setTheme] = useState(themeNow);
  const onClick = (): void => {
    const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
    chooseTheme(next);
    setTheme(next);
  };
  return (
    <button
      type="button"
      class="quiet square"
      aria-label={`Theme: ${theme}`}
      title={`Theme: ${theme}`}
      onClick={onClick}
    >
      <Icon name={THEME_ICONS[theme]} />
    </button>
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
