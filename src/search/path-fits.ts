/**
 * How a searched literal fits the paths of a segment's files. Where many files match, all paths are
 * scanned once for the literal by the kernel, and only those that hold it are looked at one by one.
 */

import { hasBit, setBit, emptyBitset, type Bitset } from "../base/bitset.ts";
import { foldText } from "../kernel/folding.ts";
import type { PathTable } from "../store/segment-tables.ts";
import type { RaterOptions } from "./hits.ts";
import { pathFit } from "./score.ts";

/** From so many candidates on one scan of all paths is cheaper: it costs as much as 300 single looks. */
const WORTH_SCAN = 512;

interface LiteralInPaths {
  readonly text: string;
  readonly encoding: "latin1" | "utf8";
  /** Files whose path holds it; undefined: look at each. */
  readonly files: Bitset | undefined;
}

export class PathFits {
  readonly #options: RaterOptions;
  readonly #paths: PathTable;
  readonly #bytes: Buffer;
  /** By atom; undefined for atoms that are no literals. */
  readonly #literals: (LiteralInPaths | undefined)[];

  constructor(options: RaterOptions, paths: PathTable) {
    this.#options = options;
    this.#paths = paths;
    this.#bytes = Buffer.from(paths.bytes.buffer, paths.bytes.byteOffset, paths.bytes.length);
    this.#literals = options.query.atoms.map((atom) => {
      if (atom.kind !== "literal") return undefined;
      const text = foldText(atom.placed.literal.text);
      const literal = { text, encoding: encodingFor(text), files: undefined };
      const isWorthIt = literal.encoding === "latin1" && options.candidates >= WORTH_SCAN;
      return isWorthIt ? { ...literal, files: this.#filesWith(literal) } : literal;
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

  #filesWith({ text }: LiteralInPaths): Bitset {
    const { starts } = this.#paths;
    const files = emptyBitset(this.#options.reader.header.files);
    const folded = foldedPaths(this.#paths, this.#bytes);
    for (let at = folded.indexOf(text), file = 0; at >= 0; at = folded.indexOf(text, at + 1)) {
      while (starts[file + 1]! <= at) file++;
      if (at + text.length <= starts[file + 1]!) setBit(files, file);
    }
    return files;
  }
}

/** Text of ASCII is looked for byte by byte: folding a path as Latin-1 keeps its length. */
const encodingFor = (text: string): LiteralInPaths["encoding"] =>
  Buffer.byteLength(text) === text.length ? "latin1" : "utf8";

// one byte a character, as long as the segment's tables are kept: making it takes 2 ms for linux
const kept = new WeakMap<PathTable, string>();

function foldedPaths(paths: PathTable, bytes: Buffer): string {
  let folded = kept.get(paths);
  if (folded === undefined) kept.set(paths, (folded = bytes.toString("latin1").toLowerCase()));
  return folded;
}
