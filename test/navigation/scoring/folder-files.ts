/** The files of a folder, for tests of the rules without an engine. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Facts } from "../../../src/navigation/facts/facts.ts";
import type { Rules } from "../../../src/navigation/facts/rules.ts";
import type { ProjectFiles } from "../../../src/navigation/core/project.ts";
import { Grammars } from "../../../src/navigation/grammars.ts";
import { rulesFor } from "../../../src/navigation/languages/languages.ts";

const SKIPPED = new Set(["node_modules", ".git", "dist", "venv", ".venv"]);
const MANIFEST = /(?:^|\/)(?:go\.mod|package\.json|[tj]sconfig(?:\.base)?\.json)$/;
const MAX_BYTES = 2 << 20;

export class FolderFiles implements ProjectFiles {
  readonly paths: string[] = [];
  readonly #root: string;
  readonly #grammars = new Grammars();
  readonly #only: Rules;
  readonly #texts = new Map<string, string>();

  constructor(root: string, only: Rules) {
    this.#root = root;
    this.#only = only;
    this.#list("");
  }

  prepare(): Promise<void> {
    return this.#grammars.prepare(this.#only);
  }

  #list(folder: string): void {
    for (const entry of readdirSync(join(this.#root, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) this.#list(path);
      const isWanted = this.rules(path) !== undefined || MANIFEST.test(path);
      if (entry.isFile() && isWanted && statSync(join(this.#root, path)).size < MAX_BYTES)
        this.paths.push(path);
    }
  }

  rules(path: string): Rules | undefined {
    return rulesFor(path) === this.#only ? this.#only : undefined;
  }

  text(path: string): string {
    let text = this.#texts.get(path);
    if (text === undefined) {
      text = this.#grammars.textOf(readFileSync(join(this.#root, path)));
      this.#texts.set(path, text);
    }
    return text;
  }

  facts(path: string): Facts | undefined {
    const rules = this.rules(path);
    return rules && this.#grammars.facts(path, readFileSync(join(this.#root, path)), rules);
  }

  declaring(name: string): string[] {
    const word = new RegExp(`(?<![\\w$])${name.replace(/[$]/g, "\\$")}(?![\\w$])`);
    return this.paths.filter((path) => this.rules(path) && word.test(this.text(path)));
  }
}
