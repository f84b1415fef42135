/** The syntax trees that the grammars make, as the runtime's queries see them. */

import {
  createRuntime,
  MATCH_STRIDE,
  ROLES,
  type Runtime,
} from "../../../src/ingest/symbols/runtime.ts";
import { Decoder } from "../../../src/ingest/symbols/source-text.ts";

export interface Syntax {
  /** The place of each node, from the root to the leaves. */
  readonly nodes: string;
  readonly hasError: boolean;
}

export type Parse = (bytes: Uint8Array) => Syntax;

/** Loads a grammar. */
export async function openGrammar(grammar: string): Promise<Parse> {
  const runtime = await createRuntime({ grammar, query: "_ @node", roleOf: () => "name" });
  return (bytes) => syntaxOf(runtime, bytes);
}

const decoder = new Decoder();

function syntaxOf(runtime: Runtime, bytes: Uint8Array): Syntax {
  const { count, values, hasError } = runtime.match(decoder.decode(bytes), () => false)!;
  const nodes = Array.from({ length: count }, (_, match) => {
    const [, start, end] = values.subarray(match * MATCH_STRIDE + ROLES.name);
    return `${start}-${end}`;
  });
  return { nodes: nodes.join(" "), hasError };
}
