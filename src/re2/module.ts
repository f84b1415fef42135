/**
 * Loads and calls RE2, which is the WebAssembly module of the package re2-wasm. The JavaScript of that package is not
 * used, because it cannot restart after an abort, decodes every match (wrongly if bytes are not UTF-8), and prints
 * warnings. When the module starts, it describes its only class, WrappedRE2, to the code that has loaded it. It does so
 * with embind, a protocol of Emscripten. This file implements the part of embind that patterns and matches need.
 *
 *     construct(pattern, ignoreCase, multiline, dotAll) -> smart pointer
 *     ok(this) -> bool       error(this) -> string       match(this, text, start, groups) -> object
 *
 * A string is passed as a pointer to { length: u32, bytes }, which the sender allocates and this file always frees. The
 * object that match() builds is represented here by two flat lists. One list has the numbers in the object, and the
 * other has the lengths of its strings. Both are in the order in which the module adds the values.
 *
 * The module may have a meter (metered.ts). After FUEL loop iterations, the meter asks whether RE2 may continue.
 * There is no other way to stop a call, and RE2 may take minutes, for instance to build its states.
 *
 * The heap has 16 MiB, of which 5 MiB are stack, and cannot grow. If a call needs more memory, the module aborts, and
 * the instance becomes unusable. So every call may throw Re2Aborted, or Re2Stopped if the meter has stopped the call.
 * The caller then creates a new instance.
 */

import { readWasm } from "../base/wasm-file.ts";
import { metered } from "./metered.ts";

const HEAP_PAGES = 256; // a fixed number that the module defines

export class Re2Aborted extends Error {
  override readonly name = "Re2Aborted";
}

/** Thrown when the meter has stopped a call. */
export class Re2Stopped extends Error {
  override readonly name = "Re2Stopped";
}

/**
 * The number of loop iterations that RE2 runs between two calls of the meter. They take 60 µs in a scan, and 8 ms when
 * RE2 builds its largest states.
 */
const FUEL = 5_000;

/** The result of match(). `index` is the number of units (see re2.ts) before the match, or -1 if nothing matches. */
export interface RawMatch {
  readonly index: number;
  /** The length of the whole match in bytes, and then the length of each group. */
  readonly lengths: readonly number[];
}

type Native = (...args: number[]) => number;

interface Exports {
  readonly __indirect_function_table: { get(index: number): Native };
  readonly malloc: Native;
  readonly free: Native;
  readonly emscripten_stack_init: Native;
  readonly __wasm_call_ctors: Native;
  /** The WebAssembly global that counts loop iterations down to the meter's next call. Absent if there is no meter. */
  readonly fuel?: { value: number };
}

const compiled = new Map<"plain" | "metered", WebAssembly.Module>();

function module(kind: "plain" | "metered"): WebAssembly.Module {
  let made = compiled.get(kind);
  if (!made) {
    const bytes = readWasm("re2-wasm/build/wasm/re2.wasm");
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

  /**
   * Creates an instance. If `mustEnd` is given, the instance has a meter, which calls this function regularly while RE2
   * works. Once the function returns true, the call throws Re2Stopped.
   */
  constructor(mustEnd?: () => boolean) {
    this.#mustEnd = mustEnd;
    const given = { env: this.#environment(), wasi_snapshot_preview1: system };
    this.#exports = new WebAssembly.Instance(module(mustEnd ? "metered" : "plain"), given)
      .exports as unknown as Exports;
    this.#exports.emscripten_stack_init();
    this.#exports.__wasm_call_ctors();
  }

  /** Compiles a pattern and returns its handle. REQUIRES: the handle is freed with release(). */
  compile(pattern: Uint8Array, ignoreCase: boolean): number {
    return this.#guard(() => this.#construct(this.#string(pattern), ignoreCase ? 1 : 0, 0, 0));
  }

  release(handle: number): void {
    this.#guard(() => this.#destroy(handle));
  }

  /** Returns RE2's error message, or undefined if RE2 accepts the pattern. */
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

  /**
   * Runs a function that calls into the module. Throws Re2Aborted if the function throws anything but Re2Stopped. After
   * any exception, including a trap of WebAssembly, the state of the instance is unknown.
   */
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

  /** Returns the module's imports, through which the module also describes its class when it starts. */
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

  /**
   * Gives RE2 new fuel, or throws if RE2 must stop. The meter calls this when the fuel is used up. The module calls
   * this when it aborts, which always throws.
   */
  #tick(): void {
    const { fuel } = this.#exports;
    if (!fuel || fuel.value !== 0) fail();
    if (this.#mustEnd?.()) throw new Re2Stopped("RE2 was ended");
    fuel.value = FUEL;
  }

  /**
   * Records a number, or the length of a string, in the object that match() builds. The module calls this for all
   * numbers and strings in the object, but not for the object's keys, which are C strings.
   */
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

/** The imports that patterns and matches do not need, and those that must fail. */
const ignored: Record<string, unknown> = {
  __assert_fail: fail,
  __cxa_throw: fail,
  __cxa_allocate_exception: fail,
  emscripten_resize_heap: nothing, // returns false, so that the allocation fails
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
