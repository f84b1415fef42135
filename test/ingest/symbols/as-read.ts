import { cut } from "../../../src/ingest/symbols/queries/shared/cuts.ts";
import type { LanguageQuery } from "../../../src/ingest/symbols/queries/shared/language.ts";
import { reword, withFrame } from "../../../src/ingest/symbols/queries/shared/rewording.ts";

/** Returns a text as its grammar reads it: with newer syntax reworded, and without the removed parts. */
export function asRead(query: LanguageQuery, bytes: Uint8Array): Uint8Array {
  const { bytes: older, frame } = reword(bytes, query) ?? { bytes, frame: undefined };
  const kept = cut(older, query.cuts?.(older) ?? []);
  return frame ? withFrame(kept, frame) : kept;
}
