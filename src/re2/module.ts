/**
 * RE2 itself: the WebAssembly module of the package re2-wasm, loaded without that package's own
 * glue, which cannot be told to start anew after an abort, decodes every match it reports (wrongly,
 * where bytes are not UTF-8) and prints warnings. The module describes its one class, WrappedRE2, to
 * its host while it starts (Emscripten's embind); what follows is the part of that protocol that a
 * pattern and a match need.
 *
 *     construct(pattern, ignoreCase, multiline, dotAll) -> smart pointer
 *     ok(this) -> bool       error(this) -> string       match(this, text, start, groups) -> object
 *
 * A string crosses as a pointer to { length: u32, bytes }, allocated by the caller and freed by the
 * callee's host. The object that match() builds is kept as flat lists: numbers and string lengths in
 * the order in which they are made.
 *
 * The module may be given a meter (metered.ts): every so many turns of its loops it asks whether it may
 * go on. Nothing else could end a question that takes RE2 minutes, as building its states may.
 *
 * The heap is 16 MiB, 5 MiB of it stack, and cannot grow. What does not fit aborts, and an aborted
 * instance is dead: every call here may throw Re2Aborted or Re2Stopped, and the caller makes a new one.
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { metered } from "./metered.ts";

const HEAP_PAGES = 256; // the module's own fixed number

export class Re2Aborted extends Error {
  override readonly name = "Re2Aborted";
}

/** It was told to end. */
export class Re2Stopped extends Error {
  override readonly name = "Re2Stopped";
}

/** Of loops, between two looks at the clock: 60 µs of a scan, 8 ms of building the largest states. */
const TURNS = 5_000;

/** What match() reports: -1 where nothing matches. `index` counts units (re2.ts) before the match. */
export interface RawMatch {
  readonly index: number;
  /** Byte lengths: of the whole match, then of each group. */
  readonly lengths: readonly number[];
}

type Native = (...args: number[]) => number;

interface Exports {
  readonly __indirect_function_table: { get(index: number): Native };
  readonly malloc: Native;
  readonly free: Native;
  readonly emscripten_stack_init: Native;
  readonly __wasm_call_ctors: Native;
  /** Of a module with a meter. */
  readonly fuel?: { value: number };
}

const compiled = new Map<"plain" | "metered", WebAssembly.Module>();

function module(kind: "plain" | "metered"): WebAssembly.Module {
  let made = compiled.get(kind);
  if (!made) {
    const path = createRequire(import.meta.url).resolve("re2-wasm/build/wasm/re2.wasm");
    const bytes = readFileSync(path);
    made = new WebAssembly.Module(kind === "plain" ? bytes : metered(bytes, "abort"));
    compiled.set(kind, made);
  }
  return made;
}

export class Re2Module {
  readonly #memory = new WebAssembly.Memory({ initial: HEAP_PAGES, maximum: HEAP_PAGES });
  readonly #bytes = new Uint8Array(this.#memory.buffer);
  readonly #words = new Int32Array(this.#memory.buffer);
  readonly #exports: Exports;
  readonly #methods = new Map<string, (self: number, ...args: number[]) => number>();
  #construct: Native = missing;
  #pointee: Native = missing;
  #destroy: Native = missing;
  #stringType = 0;
  #numbers: number[] = [];
  #lengths: number[] = [];
  readonly #mustEnd: (() => boolean) | undefined;

  /** `mustEnd` is asked now and then while RE2 works: then it has a meter. */
  constructor(mustEnd?: () => boolean) {
    this.#mustEnd = mustEnd;
    const given = { env: this.#environment(), wasi_snapshot_preview1: system };
    this.#exports = new WebAssembly.Instance(module(mustEnd ? "metered" : "plain"), given)
      .exports as unknown as Exports;
    this.#exports.emscripten_stack_init();
    this.#exports.__wasm_call_ctors();
  }

  /** A pattern's handle; REQUIRES: given back with release(). */
  compile(pattern: Uint8Array, ignoreCase: boolean): number {
    return this.#guard(() => this.#construct(this.#string(pattern), ignoreCase ? 1 : 0, 0, 0));
  }

  release(handle: number): void {
    this.#guard(() => this.#destroy(handle));
  }

  /** RE2's words, or undefined if it accepts the pattern. */
  error(handle: number): string | undefined {
    return this.#guard(() => {
      const self = this.#pointee(handle);
      if (this.#call("ok", self) !== 0) return undefined;
      const at = this.#call("error", self);
      const length = this.#words[at >> 2]!;
      const text = Buffer.from(this.#bytes.subarray(at + 4, at + 4 + length)).toString("utf8");
      this.#exports.free(at);
      return text;
    });
  }

  match(handle: number, text: Uint8Array, start: number, groups: boolean): RawMatch {
    return this.#guard(() => {
      this.#numbers = [];
      this.#lengths = [];
      const input = this.#string(text);
      this.#call("match", this.#pointee(handle), input, start, groups ? 1 : 0);
      this.#exports.free(input);
      return { index: this.#numbers[0]! | 0, lengths: this.#lengths };
    });
  }

  /** Whatever is thrown in there, a trap included, leaves the instance in no known state. */
  #guard<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (error instanceof Re2Stopped) throw error;
      throw new Re2Aborted(String(error), { cause: error });
    }
  }

  #call(name: string, self: number, ...args: number[]): number {
    return this.#methods.get(name)!(self, ...args);
  }

  #string(bytes: Uint8Array): number {
    const at = this.#exports.malloc(bytes.length + 5);
    if (at === 0) throw new Re2Aborted("no memory for the text");
    this.#words[at >> 2] = bytes.length;
    this.#bytes.set(bytes, at + 4);
    return at;
  }

  #name(at: number): string {
    let name = "";
    for (; this.#bytes[at] !== 0; at++) name += String.fromCharCode(this.#bytes[at]!);
    return name;
  }

  readonly #function = (index: number): Native =>
    this.#exports.__indirect_function_table.get(index);

  /** What the module imports, and how it describes its class while it starts. */
  #environment(): Record<string, unknown> {
    return {
      ...ignored,
      memory: this.#memory,
      abort: () => this.#tick(),
      emscripten_memcpy_big: (to: number, from: number, length: number) => {
        this.#bytes.copyWithin(to, from, from + length);
      },
      _embind_register_std_string: (type: number, name: number) => {
        if (this.#name(name) === "std::string") this.#stringType = type;
      },
      _embind_register_smart_ptr: (...args: number[]) => {
        this.#pointee = this.#function(args[5]!);
        this.#destroy = this.#function(args[11]!);
      },
      _embind_register_class_constructor: (...args: number[]) => {
        if (args[1] === 5) this.#construct = this.#maker(args[4]!, args[5]!);
      },
      _embind_register_class_function: (...args: number[]) => {
        const [invoker, context] = [args[5]!, args[6]!];
        this.#methods.set(this.#name(args[1]!), (self, ...given) =>
          this.#function(invoker)(context, self, ...given),
        );
      },
      _emval_take_value: (type: number, argument: number) => this.#take(type, argument),
    };
  }

  #maker(invoker: number, target: number): Native {
    return (pattern, ...flags) => {
      const handle = this.#function(invoker)(target, pattern!, ...flags);
      this.#exports.free(pattern!);
      return handle;
    };
  }

  /** What the meter calls, and what the module calls where it gives up. */
  #tick(): void {
    const { fuel } = this.#exports;
    if (!fuel || fuel.value !== 0) fail();
    if (this.#mustEnd?.()) throw new Re2Stopped("RE2 was ended");
    fuel.value = TURNS;
  }

  /** A value on its way into the object that match() builds. Keys are never of these types. */
  #take(type: number, argument: number): number {
    const value = this.#words[argument >> 2]!;
    if (type !== this.#stringType) this.#numbers.push(value);
    else {
      this.#lengths.push(this.#words[value >> 2]!);
      this.#exports.free(value);
    }
    return 0;
  }
}

const missing: Native = () => {
  throw new Re2Aborted("the module did not describe its class");
};

const fail: () => never = () => {
  throw new Re2Aborted("RE2 aborted");
};

const nothing = () => 0;

/** Imports that a pattern and a match do not need, or that must fail. */
const ignored: Record<string, unknown> = {
  __assert_fail: fail,
  __cxa_throw: fail,
  __cxa_allocate_exception: fail,
  emscripten_resize_heap: nothing, // "no": the allocation fails
};
for (const name of [
  ...["class", "void", "bool", "std_wstring", "emval", "integer", "float", "memory_view"].map(
    (type) => `_embind_register_${type}`,
  ),
  ...["new_object", "set_property", "new_array", "decref", "new_cstring", "incref", "call"].map(
    (operation) => `_emval_${operation}`,
  ),
  ...["init", "destroy", "rdlock", "unlock", "wrlock"].map((lock) => `pthread_rwlock_${lock}`),
  "__cxa_atexit",
  "strftime_l",
  "setTempRet0",
])
  ignored[name] = nothing;

const system: Record<string, unknown> = {
  fd_close: nothing,
  fd_write: nothing,
  fd_seek: nothing,
  environ_sizes_get: nothing,
  environ_get: nothing,
};
