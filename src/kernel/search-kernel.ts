/**
 * Creates instances of the part of the kernel that works in shared memory. Each thread has instances of its own, and all
 * instances have the same memory. The callers define the layout of this memory; job.ts describes the part that
 * belongs to a single thread.
 */

import { QuernError } from "../base/errors.ts";
import { SEARCH_BASE64 } from "./module.generated.ts";

const PAGE = 65_536;
/** The first address that does not belong to the module. */
export const RESERVED_BYTES = 2 * PAGE;

export interface SearchKernel {
  // one literal; see assembly/plan.ts, search.ts and show.ts
  planLiteral(job: number, plan: number): number;
  searchLiteral(job: number, plan: number, chunk: number): void;
  /** Returns 0 or 1. */
  showLiteral(
    job: number,
    plan: number,
    blob: number,
    skip: number,
    most: number,
    contextLines: number,
  ): number;
}

/** The functions that the kernel calls while it searches. An exception in one of them ends the search. */
export interface SearchImports {
  readonly readBlock: (set: number, block: number, at: number) => number;
  readonly readText: (from: number, to: number, at: number) => void;
  readonly readRun: (blob: number) => void;
  readonly brokenRun: () => void;
  readonly isStopped: () => number;
  readonly takeRows: () => void;
  readonly rankOf: (file: number) => void;
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

const abort = (): never => {
  throw new QuernError("INTERNAL", "the kernel of searches aborted");
};

export function createSearchKernel(
  memory: WebAssembly.Memory,
  imports: SearchImports,
): SearchKernel {
  compiled ??= new WebAssembly.Module(Buffer.from(SEARCH_BASE64, "base64"));
  const { exports } = new WebAssembly.Instance(compiled, { env: { memory, abort, ...imports } });
  return exports as unknown as SearchKernel;
}
