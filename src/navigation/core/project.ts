/** The files of one revision of a repository, with their facts, which are made when they are first needed. */

import { posix } from "node:path";
import type { Facts } from "../facts/facts.ts";
import type { Modules } from "../facts/modules.ts";
import type { Rules } from "../facts/rules.ts";

/** What a project reads. */
export interface ProjectFiles {
  /** The paths of all files. */
  readonly paths: Iterable<string>;
  /** Returns the text of a file, or undefined if it cannot be read. */
  text(path: string): string | undefined;
  /** Returns the facts of a file, or undefined if no language has rules for it, or if it cannot be parsed. */
  facts(path: string): Facts | undefined;
  rules(path: string): Rules | undefined;
  /** Returns the paths of the files that may declare a member of this name. */
  declaring(name: string): readonly string[];
}

/** A text that describes a package is not read beyond this length. */
const MAX_TEXT = 1 << 20;

export class Project implements Modules {
  readonly #files: ProjectFiles;
  readonly #folders = new Map<string, string[]>();
  readonly #paths = new Set<string>();
  readonly #byName = new Map<string, string[]>();
  readonly #facts = new Map<string, Facts | undefined>();
  readonly #memo = new Map<string, unknown>();

  constructor(files: ProjectFiles) {
    this.#files = files;
    for (const path of files.paths) {
      this.#paths.add(path);
      this.#addTo(this.#byName, posix.basename(path), path);
      const folder = posix.dirname(path);
      this.#addTo(this.#folders, folder, path);
    }
    for (const folder of this.#folders.keys())
      for (let at = posix.dirname(folder); !this.#folders.has(at); at = posix.dirname(at))
        this.#folders.set(at, []);
  }

  #addTo(map: Map<string, string[]>, key: string, path: string): void {
    const list = map.get(key);
    if (list) list.push(path);
    else map.set(key, [path]);
  }

  /** The number of files that were parsed or taken from a cache. */
  get filesRead(): number {
    return this.#facts.size;
  }

  rules(path: string): Rules | undefined {
    return this.#files.rules(path);
  }

  declaring(name: string): readonly string[] {
    return this.#files.declaring(name);
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  hasFolder(path: string): boolean {
    return this.#folders.has(path);
  }

  inFolder(path: string): readonly string[] {
    return this.#folders.get(path) ?? [];
  }

  named(name: string): readonly string[] {
    return this.#byName.get(name) ?? [];
  }

  text(path: string): string {
    return this.memo(`text ${path}`, () => (this.#files.text(path) ?? "").slice(0, MAX_TEXT));
  }

  facts(path: string): Facts | undefined {
    if (!this.#paths.has(path)) return undefined;
    if (!this.#facts.has(path)) this.#facts.set(path, this.#files.facts(path));
    return this.#facts.get(path);
  }

  memo<T>(key: string, make: () => T): T {
    if (!this.#memo.has(key)) this.#memo.set(key, make());
    return this.#memo.get(key) as T;
  }
}
