/**
 * Creates instances of the kernel, each with its own memory. The module is compiled once per thread. Creating an
 * instance takes only 0.1 ms, so each of several tasks that may interleave has an instance of its own.
 *
 * The kernel does not allocate memory. Its callers reserve regions of the memory here, and pass the addresses to the
 * kernel. A caller does so when it is created, and when it needs a larger region. Addresses below RESERVED belong to
 * the module.
 */

import { QuernError } from "../base/errors.ts";
import { KERNEL_BASE64 } from "./module.generated.ts";
import type { KernelExports } from "./exports.ts";

const PAGE = 65_536;
const RESERVED = 2 * PAGE; // the module's constants are in its second page
const SLACK = 64; // SIMD loads may read this far beyond the end of a region

const MOST_PAGES = 65_536;
/**
 * The maximum number of pages by which the memory grows beyond what is needed. Each time the memory grows, V8 counts
 * all of its previous bytes as garbage. Soon afterwards, V8 marks all objects of the thread, which takes about 15 ms of
 * processor time. When the memory grew only as needed, it grew 150 times while the source code of Linux was indexed.
 * Linux and macOS provide spare pages only when they are written.
 */
const MOST_SPARE = 1024;

/** The maximum number of bytes between the end of a region and the address of the next. */
export const MOST_GAP = SLACK + 15;

export interface Kernel {
  readonly run: KernelExports;
  /** The whole memory. Do not keep this array across a call of reserve(), which may replace it. */
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
  /** Copies a block of posting lists to an address, and returns its length. pagesWithAll() calls this. */
  readBlock: (block: number, at: number) => number;
  /** Returns the address of a new zeroed region, aligned to 16. Regions are never freed. */
  reserve(length: number): number;
}

let compiled: WebAssembly.Module | undefined;

export function createKernel(): Kernel {
  compiled ??= new WebAssembly.Module(Buffer.from(KERNEL_BASE64, "base64"));
  const memory = new WebAssembly.Memory({ initial: 16, maximum: MOST_PAGES });
  const readBlock = (_set: number, block: number, at: number) => kernel.readBlock(block, at);
  const { exports } = new WebAssembly.Instance(compiled, { env: { memory, abort, readBlock } });
  const kernel = new Instance(memory, exports as unknown as KernelExports);
  return kernel;
}

const abort = (): never => {
  throw new QuernError("INTERNAL", "the kernel aborted");
};

class Instance implements Kernel {
  readonly run: KernelExports;
  readBlock: Kernel["readBlock"] = abort;
  bytes: Uint8Array;
  words: Uint32Array;
  readonly #memory: WebAssembly.Memory;
  #next = RESERVED;

  constructor(memory: WebAssembly.Memory, run: KernelExports) {
    this.run = run;
    this.#memory = memory;
    this.bytes = new Uint8Array(memory.buffer);
    this.words = new Uint32Array(memory.buffer);
  }

  reserve(length: number): number {
    const at = this.#next;
    this.#next = (at + length + SLACK + 15) & ~15;
    if (this.#next > this.bytes.length) this.#grow();
    return at;
  }

  #grow(): void {
    const pages = this.bytes.length / PAGE;
    const missing = Math.ceil(this.#next / PAGE) - pages;
    const spare = Math.min(MOST_SPARE, pages >>> 1, MOST_PAGES - pages - missing);
    this.#memory.grow(missing + Math.max(0, spare));
    this.bytes = new Uint8Array(this.#memory.buffer);
    this.words = new Uint32Array(this.#memory.buffer);
  }
}
