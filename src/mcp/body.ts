/** Finds the last line of a definition's body. */

import { DefinitionBody } from "../base/definition-body.ts";
import type { Pause } from "../base/yield.ts";
import type { TextLines } from "./text-lines.ts";

/** The number of bytes that are read between two pauses. Reading them takes at most a millisecond. */
const STEP_BYTES = 16 * 1024;

export interface BodyEnd {
  readonly line: number;
  /** Whether the body was read to its end. */
  readonly isCertain: boolean;
}

/** Resolves to the end of the definition that begins on line `line`. Reads at most about `most` bytes. */
export async function endOfBody(
  lines: TextLines,
  line: number,
  { most, pause }: { readonly most: number; readonly pause: Pause },
): Promise<BodyEnd> {
  const { buffer, byteOffset, length } = lines.bytes;
  const body = new DefinitionBody(Buffer.from(buffer, byteOffset, length), lines.startOf(line));
  await pause(); // the first line may be long
  let isOver = false;
  while (!isOver && body.bytesRead < most) {
    isOver = !body.readOn(STEP_BYTES);
    await pause();
  }
  return { line: lines.lineAt(body.last), isCertain: isOver };
}
