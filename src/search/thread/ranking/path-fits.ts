/**
 * How a searched literal fits the paths of a segment's files. Where many files match, all paths are
 * scanned once for the literal by the kernel, and only those that hold it are looked at one by one.
 */

import { hasBit, type Bitset } from "../../../base/bitset.ts";
import { foldText } from "../../../kernel/folding.ts";
import type { PathTable } from "../../../store/segments/segment-tables.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import type { PreparedQuery } from "../planning/prepare.ts";
import { filesHolding } from "../planning/path-scan.ts";
import { pathFit } from "./score.ts";

/** From so many candidates on one scan of all paths is cheaper. */
const WORTH_SCAN = 512;

interface LiteralInPaths {
  readonly text: string;
  readonly encoding: "latin1" | "utf8";
  /** Files whose path may hold it; undefined: look at each. */
  readonly files: Bitset | undefined;
}

export class PathFits {
  readonly #paths: PathTable;
  readonly #bytes: Buffer;
  /** By atom; undefined for atoms that are no literals, or that no file shows. */
  readonly #literals: (LiteralInPaths | undefined)[];

  /** `candidates`: how many files may match. */
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

  /** 0 to 4, see pathFit(). */
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

/** Text of ASCII is looked for byte by byte: folding a path as Latin-1 keeps its length. */
const encodingFor = (text: string): LiteralInPaths["encoding"] =>
  Buffer.byteLength(text) === text.length ? "latin1" : "utf8";
