/** The pages of the project, by their paths. */

import { readdirSync } from "node:fs";

export const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "examples/README.md",
  "corpus/README.md",
  ...readdirSync("docs").map((name) => `docs/${name}`),
].filter((name) => name.endsWith(".md"));
