/**
 * Chooses the light or the dark theme. The reader's choice is kept in the browser. Without a choice, the theme is that
 * of the system.
 */

export const THEMES = ["automatic", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "quern-theme";

const isDark = matchMedia("(prefers-color-scheme: dark)");

/** Returns the reader's choice. A browser may refuse to keep anything, and then throws. */
export function themeNow(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === kept) ?? "automatic";
  } catch {
    return "automatic";
  }
}

export function chooseTheme(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // the choice lasts until the page is left
  }
  show(theme);
}

/** Applies the theme, and follows the system. */
export function startTheme(): void {
  show(themeNow());
  isDark.addEventListener("change", () => show(themeNow()));
}

function show(theme: Theme): void {
  const system = isDark.matches ? "dark" : "light";
  document.documentElement.dataset["theme"] = theme === "automatic" ? system : theme;
}
