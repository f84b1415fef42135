/**
 * Describes the memory that the threads of an engine share:
 *
 *     memory := reserved tables taken room*
 *
 * The first bytes belong to the kernel's module. `tables` are those of segments (shared-tables.ts). Each thread takes a
 * *room*, in which it alone writes (kernel/job.ts). `taken` is the number of rooms that were taken. The room of a thread
 * that dies is not used again. The system allocates a page of the memory only when it is written.
 */

import { newSharedMemory, RESERVED_BYTES } from "../../kernel/search-kernel.ts";
import { SharedTables, tablesMemoryBytes } from "./shared-tables.ts";

export const ROOM_BYTES = 16 * 2 ** 20;
const MOST_BYTES = 2 ** 32 - 2 ** 16;

/** The memory, and the sizes of its parts. It can be sent to other threads in a message. */
export interface SharedMemory {
  readonly memory: WebAssembly.Memory;
  /** The number of bytes of tables. */
  readonly tableBytes: number;
}

const tablesEnd = (tableBytes: number): number =>
  RESERVED_BYTES + ((tablesMemoryBytes(tableBytes) + 15) & ~15);

/** Creates memory with this many rooms, or with fewer if they do not fit. */
export function createMemory(tableBytes: number, rooms: number): SharedMemory {
  const bytes = tablesEnd(tableBytes) + 2 ** 16 + rooms * ROOM_BYTES;
  return { memory: newSharedMemory(Math.min(bytes, MOST_BYTES)), tableBytes };
}

export const tablesIn = ({ memory, tableBytes }: SharedMemory): SharedTables =>
  new SharedTables(
    memory.buffer as unknown as SharedArrayBuffer,
    RESERVED_BYTES,
    tablesEnd(tableBytes),
  );

/** Takes a room for this thread. Returns its address, or undefined if none is left. */
export function takeRoom({ memory, tableBytes }: SharedMemory): number | undefined {
  const from = tablesEnd(tableBytes);
  const room = Atomics.add(new Int32Array(memory.buffer, from, 1), 0, 1);
  const at = from + 16 + room * ROOM_BYTES;
  return at + ROOM_BYTES <= memory.buffer.byteLength ? at : undefined;
}
