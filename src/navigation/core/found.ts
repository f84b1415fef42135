/** Defines what a name may mean. */

import type { Definition } from "../facts/facts.ts";
import type { Module } from "../facts/modules.ts";

export interface Found {
  readonly definitions: Definition[];
  readonly modules: Module[];
  /** Whether something that may have the name is outside of the repository. */
  isOpen: boolean;
}

export const nothing = (isOpen = false): Found => ({ definitions: [], modules: [], isOpen });

export const only = (...definitions: readonly Definition[]): Found => ({
  definitions: [...definitions],
  modules: [],
  isOpen: false,
});

export const isEmpty = ({ definitions, modules }: Found): boolean =>
  definitions.length === 0 && modules.length === 0;

/** Adds what `from` contains to `to`. */
export function add(to: Found, from: Found): void {
  for (const one of from.definitions) if (!to.definitions.includes(one)) to.definitions.push(one);
  to.modules.push(...from.modules);
  to.isOpen ||= from.isOpen;
}
