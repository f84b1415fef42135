/** Defines how a language finds other files of the repository. */

import type { Facts } from "./facts.ts";

/** What a specifier means: one file, all files of a package, or a folder that contains modules. */
export interface Module {
  readonly files: readonly Facts[];
  /** The path of the folder whose modules are members of this module. */
  readonly folder?: string;
}

/** The files of a repository, as a language's rules for specifiers see them. */
export interface Modules {
  has(path: string): boolean;
  /** Returns whether files are below a folder. */
  hasFolder(path: string): boolean;
  /** Returns the facts of a file, or undefined if it does not exist or has none. */
  facts(path: string): Facts | undefined;
  /** Returns the paths of the files that are directly in a folder. */
  inFolder(path: string): readonly string[];
  /** Returns the text of a file that describes a package. */
  text(path: string): string;
  /** Returns the paths of all files with this name. */
  named(name: string): readonly string[];
  /** Returns the value under a key, which is made when it is first asked for. */
  memo<T>(key: string, make: () => T): T;
}
