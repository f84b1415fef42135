/**
 * Makes the facts of files. Each grammar has an instance of the parser's runtime, which stays loaded. A file that takes
 * too long, is too large or makes its grammar trap has no facts. A grammar that has trapped, or that takes too much
 * memory, is loaded anew by the next prepare().
 */

import { createRuntime, type Runtime } from "../ingest/symbols/runtime.ts";
import { Decoder, type SourceText } from "../ingest/symbols/source-text.ts";
import { startLimit } from "../ingest/symbols/work-limit.ts";
import type { Facts } from "./facts/facts.ts";
import type { Rules } from "./facts/rules.ts";
import { readSyntax, type Syntax, type Vocabulary } from "./facts/syntax.ts";

/** The maximum processor time that parsing a file may take, in milliseconds. */
const MAX_MS = 3_000;
const MAX_FILE_BYTES = 2 << 20;
const MAX_HEAP = 96 << 20;

interface Loaded {
  readonly runtime: Runtime;
  readonly vocabulary: Vocabulary;
}

export class Grammars {
  readonly #loaded = new Map<string, Loaded>();
  readonly #decoder = new Decoder();

  /** Loads the grammars of a language. */
  async prepare({ grammar, extensions }: Rules): Promise<void> {
    for (const name of new Set(extensions.map((one) => grammar(`file${one}`)))) {
      const known = this.#loaded.get(name);
      if (known && known.runtime.heapBytes <= MAX_HEAP) continue;
      const runtime = await createRuntime({ grammar: name, query: "", roleOf: () => "name" });
      const vocabulary = { types: runtime.typeNames(), fields: runtime.fieldNames() };
      this.#loaded.set(name, { runtime, vocabulary });
    }
  }

  /** Decodes the content of a file as the positions in its facts count it. */
  textOf(bytes: Uint8Array): string {
    const source = this.#decoder.decode(bytes);
    return source.slice(0, source.length);
  }

  /** Returns the facts of a file, or undefined if it has none. REQUIRES: prepare() was called for the rules. */
  facts(path: string, bytes: Uint8Array, rules: Rules): Facts | undefined {
    if (bytes.length > MAX_FILE_BYTES) return undefined;
    const name = rules.grammar(path);
    const loaded = this.#loaded.get(name);
    if (!loaded) return undefined;
    const text = this.textOf(bytes);
    const isOver = startLimit(MAX_MS);
    try {
      const syntax = this.#parse(text, text, loaded, isOver);
      if (!syntax) return undefined;
      if (!syntax.hasError || !rules.reword) return rules.read(path, syntax.syntax);
      const reworded = rules.reword(path, text);
      const again = reworded === text ? undefined : this.#parse(reworded, text, loaded, isOver);
      return rules.read(path, (again ?? syntax).syntax);
    } catch (error) {
      // a runtime that has trapped cannot be used again
      if (!(error instanceof Error && error.name === "RuntimeError")) throw error;
      this.#loaded.delete(name);
      return undefined;
    }
  }

  /** Parses `text`, and returns a tree whose positions are those of `shown`, which has the same length. */
  #parse(
    text: string,
    shown: string,
    { runtime, vocabulary }: Loaded,
    isOver: () => boolean,
  ): { readonly syntax: Syntax; readonly hasError: boolean } | undefined {
    return runtime.walk(sourceOf(text), isOver, (cursor, hasError) => ({
      syntax: readSyntax(shown, cursor, vocabulary),
      hasError,
    }));
  }
}

const sourceOf = (text: string): SourceText => ({
  length: text.length,
  slice: (start, count) => text.slice(start, start + count),
  byteOf: (unit) => unit,
});
