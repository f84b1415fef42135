/**
 * Rates how a searched literal fits the paths of a segment's files. If many files match, the kernel scans
 * all paths once for the literal, and only those that contain it are rated one by one.
 */

import { hasBit, type Bitset } from "../../../base/bitset.ts";
import { foldText } from "../../../kernel/folding.ts";
import type { PathTable } from "../../../store/segments/segment-tables.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import type { PreparedQuery } from "../planning/prepare.ts";
import { filesHolding } from "../planning/path-scan.ts";
import { pathFit } from "./score.ts";

/** From this number of candidates on, one scan of all paths is cheaper. */
const WORTH_SCAN = 512;

interface LiteralInPaths {
  readonly text: string;
  readonly encoding: "latin1" | "utf8";
  /** The files whose path may contain it; undefined if each path must be read. */
  readonly files: Bitset | undefined;
}

export class PathFits {
  readonly #paths: PathTable;
  readonly #bytes: Buffer;
  /** Rated literals by atom; undefined for atoms that are no literals or that no file shows. */
  readonly #literals: (LiteralInPaths | undefined)[];

  /** Prepares the rating. `candidates` is the number of files that may match. */
  constructor(
    query: PreparedQuery,
    paths: PathTable,
    candidates: number,
    tools: Pick<SearchTools, "arena" | "literals">,
  ) {
    this.#paths = paths;
    this.#bytes = Buffer.from(paths.bytes.buffer, paths.bytes.byteOffset, paths.bytes.length);
    this.#literals = query.atoms.map((atom, number) => {
      if (atom.kind !== "literal" || !query.shown.has(number)) return undefined;
      const text = foldText(atom.placed.literal.text);
      const literal = { text, encoding: encodingFor(text), files: undefined };
      return candidates < WORTH_SCAN
        ? literal
        : { ...literal, files: filesHolding(text, paths, tools) };
    });
  }

  /** Returns 0 to 4; see pathFit(). */
  fit(atom: number, file: number): number {
    const literal = this.#literals[atom];
    if (!literal || (literal.files && !hasBit(literal.files, file))) return 0;
    const { starts } = this.#paths;
    const path = this.#bytes.toString(literal.encoding, starts[file], starts[file + 1]);
    return pathFit(
      literal.encoding === "latin1" ? path.toLowerCase() : foldText(path),
      literal.text,
    );
  }
}

/** Searches ASCII byte by byte. Folding a path as Latin-1 keeps its length. */
const encodingFor = (text: string): LiteralInPaths["encoding"] =>
  Buffer.byteLength(text) === text.length ? "latin1" : "utf8";
