/** Provides the values that every component may use, such as the client of the server and the router. */

import { createContext } from "preact";
import { useContext, useEffect } from "preact/hooks";
import type { Client } from "../wire/client.ts";
import { plainText } from "./plain-text.tsx";
import type { Router } from "./router.ts";

export interface Page {
  client: Client;
  router: Router;
  service: string;
  /** Whether the server offers commits. */
  hasHistory: boolean;
}

export const PageContext = createContext<Page | undefined>(undefined);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === undefined) throw new Error("a component is outside of the page");
  return page;
}

/** Sets the window's title. */
export function useTitle(title: string): void {
  const { service } = usePage();
  useEffect(() => {
    document.title = title === "" ? service : `${plainText(title)} – ${service}`;
  }, [title, service]);
}
