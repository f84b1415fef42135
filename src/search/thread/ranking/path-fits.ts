/**
 * Rates how well a literal fits the paths of a segment's files. If many files may match, the kernel scans all paths
 * once for the literal. Only the paths that contain the literal are then rated one by one.
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
  /**
   * The literal to rate for each atom. Undefined for an atom that is not a literal, or that occurs only under
   * negations.
   */
  readonly #literals: readonly (LiteralInPaths | undefined)[];

  /**
   * Creates a PathFits. Searches the paths for each literal of the query if this is worthwhile, and yields to the event
   * loop between literals. `candidates` is the number of files that may match.
   */
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

  /** Returns how well the literal of an atom fits the path of a file, from 0 to 4; see pathFit(). */
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
 * Returns the encoding in which paths are decoded to be compared with a literal. For an ASCII literal, this is Latin-1,
 * in which each byte is one character and folding keeps the length.
 */
const encodingFor = (text: string): LiteralInPaths["encoding"] =>
  Buffer.byteLength(text) === text.length ? "latin1" : "utf8";
