/** Lists the languages that have rules. To add one, write its file in this folder, and add it here. */

import type { Rules } from "../facts/rules.ts";
import { go } from "./go.ts";
import { python } from "./python.ts";
import { typescript } from "./typescript.ts";

export const RULES: readonly Rules[] = [go, python, typescript];

const BY_EXTENSION = new Map(
  RULES.flatMap((rules) => rules.extensions.map((extension) => [extension, rules] as const)),
);

/** Returns the rules for a file, or undefined if its language has none. */
export function rulesFor(path: string): Rules | undefined {
  const dot = path.lastIndexOf(".");
  return dot < 0 ? undefined : BY_EXTENSION.get(path.slice(dot));
}
