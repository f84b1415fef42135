/**
 * Rates how well a literal fits the paths of a segment's files. If many files match, the kernel scans all paths once
 * for the literal, and only paths that contain it are rated one by one.
 */

import { hasBit, type Bitset } from "../../../base/bitset.ts";
import { foldText } from "../../../kernel/folding.ts";
import type { PathTable } from "../../../store/segments/segment-tables.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import type { PreparedQuery } from "../planning/prepare.ts";
import { filesHolding } from "../planning/path-scan.ts";
import { pathFit } from "./score.ts";

/**
 * If there are at least this many candidates, one scan of all paths is faster than reading the path of each candidate.
 */
const WORTH_SCAN = 512;

interface LiteralInPaths {
  readonly text: string;
  readonly encoding: "latin1" | "utf8";
  /** The files whose paths may contain the text. Undefined if each path must be read. */
  readonly files: Bitset | undefined;
}

export class PathFits {
  readonly #paths: PathTable;
  readonly #bytes: Buffer;
  /** Rated literals by atom. Undefined for atoms that are not literals, or occur only under negations. */
  readonly #literals: readonly (LiteralInPaths | undefined)[];

  /** Searches the paths for the terms, in slices. `candidates` is the number of files that may match. */
  static async of(
    query: PreparedQuery,
    paths: PathTable,
    candidates: number,
    tools: Pick<SearchTools, "arena" | "literals" | "isStopped" | "pause">,
  ): Promise<PathFits> {
    const literals = query.atoms.map((atom, number) =>
      atom.kind === "literal" && query.shown.has(number) ? foldText(atom.placed.literal.text) : "",
    );
    const mark = tools.arena.mark();
    const isScanned = candidates >= WORTH_SCAN && literals.some((text) => text !== "");
    const at = isScanned ? tools.arena.put(paths.bytes) : 0;
    const rated: (LiteralInPaths | undefined)[] = [];
    for (const text of literals) {
      if (text === "") {
        rated.push(undefined);
        continue;
      }
      const scan = isScanned && !tools.isStopped();
      const files = scan ? await filesHolding(text, { ...paths, at }, tools) : undefined;
      rated.push({ text, encoding: encodingFor(text), files });
      await tools.pause();
    }
    tools.arena.release(mark);
    return new PathFits(paths, rated);
  }

  private constructor(paths: PathTable, literals: readonly (LiteralInPaths | undefined)[]) {
    this.#paths = paths;
    this.#bytes = Buffer.from(paths.bytes.buffer, paths.bytes.byteOffset, paths.bytes.length);
    this.#literals = literals;
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

/**
 * Chooses how paths are decoded: for an ASCII literal as Latin-1, one character per byte, so that folding keeps the
 * length.
 */
const encodingFor = (text: string): LiteralInPaths["encoding"] =>
  Buffer.byteLength(text) === text.length ? "latin1" : "utf8";
