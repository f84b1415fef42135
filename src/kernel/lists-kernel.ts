/**
 * Creates instances of the part of the kernel that works in shared memory. Each thread has an instance of its own, and
 * all instances have the same memory. The callers define the layout of this memory.
 */

import { QuernError } from "../base/errors.ts";
import { LISTS_BASE64 } from "./module.generated.ts";

const PAGE = 65_536;
/** The first address that does not belong to the module. */
export const RESERVED_BYTES = 2 * PAGE;

export interface ListsKernel {
  /** Finds the pages that are in all lists; see assembly/lists.ts. */
  pagesWithAll(set: number, grams: number, count: number, pages: number, scratch: number): number;
}

let compiled: WebAssembly.Module | undefined;

/**
 * Creates zeroed shared memory of `bytes` bytes, rounded down to a multiple of 64 KiB. The operating system allocates a
 * page of this memory only when it is written.
 */
export function newSharedMemory(bytes: number): WebAssembly.Memory {
  const pages = Math.floor(bytes / PAGE);
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
}

export function createListsKernel(memory: WebAssembly.Memory): ListsKernel {
  compiled ??= new WebAssembly.Module(Buffer.from(LISTS_BASE64, "base64"));
  const abort = () => {
    throw new QuernError("INTERNAL", "the kernel of lists aborted");
  };
  const { exports } = new WebAssembly.Instance(compiled, { env: { memory, abort } });
  return exports as unknown as ListsKernel;
}
