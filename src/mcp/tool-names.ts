/** Checks options about tools, before the tools are loaded. */

import { QuernError } from "../base/errors.ts";

export const TOOL_NAMES: readonly string[] = [
  "search",
  "find_files",
  "outline",
  "definitions",
  "references",
  "read",
  "tree",
  "repositories",
  "history",
];

/** Throws INVALID_REQUEST if the option is not a list of names of tools. `option` is its name in the error. */
export function checkToolNames(option: string, names: unknown): void {
  if (!Array.isArray(names))
    throw new QuernError("INVALID_REQUEST", `${option} must be an array of names`);
  const unknown: unknown = names.find((name) => !TOOL_NAMES.includes(name as string));
  if (unknown !== undefined)
    throw new QuernError(
      "INVALID_REQUEST",
      `${option}: there is no tool ${JSON.stringify(unknown)}; there are ${TOOL_NAMES.join(", ")}`,
    );
}

/** Throws INVALID_REQUEST if the option is neither "hide" nor "show". `option` is its name in the error. */
export function checkShownSecrets(option: string, secrets: unknown): void {
  if (secrets !== undefined && secrets !== "hide" && secrets !== "show")
    throw new QuernError("INVALID_REQUEST", `${option} must be "hide" or "show"`);
}
