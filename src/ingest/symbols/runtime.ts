/**
 * Drives one instance of the tree-sitter runtime, with one grammar and its query, through the runtime's C functions.
 * The JavaScript classes of the tree-sitter package create an object for every captured node, which takes longer than
 * the query itself. This code reads the matches from the runtime's memory into one Int32Array instead.
 *
 * Each grammar has its own instance of the runtime. In a shared instance, functions that have the same name in two
 * grammars would be confused, and a trap in one grammar would make the others unusable. An instance costs a few
 * milliseconds and the memory that it uses. Compiled modules are shared within a thread.
 *
 * If the runtime traps or aborts, the call throws. After that, the instance is unusable and must be dropped.
 */

import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";
import { assert } from "../../base/errors.ts";
import { readWasm } from "../../base/wasm-file.ts";
import type { SourceText } from "./source-text.ts";

/**
 * The number of integers that describe a match. The first integer is the index of the match's pattern in the query.
 * Three integers follow for each role: the number of the capture, and its start and end in UTF-16 units. If no
 * capture of the match has a role, the three integers of that role are -1.
 */
export const MATCH_STRIDE = 13;
export const PATTERN = 0;
/** For each role, the index of the first of its three integers within a match. */
export const ROLES = { name: 1, scope: 4, parent: 7, keyword: 10 } as const;
export type Role = keyof typeof ROLES;

export interface Matches {
  readonly count: number;
  readonly hasError: boolean;
  /** Valid until the next query of this runtime. */
  readonly values: Int32Array;
}

export interface RuntimeOptions {
  /**
   * The package of the grammar, followed by the path within the package, such as
   * `tree-sitter-wasms/out/tree-sitter-c.wasm`.
   */
  readonly grammar: string;
  readonly query: string;
  /**
   * Whether V8 may optimise the code of the runtime. The code of the grammar is never optimised. Optimising takes
   * 0.15 s of work in the background. After that, parsing and queries take a fifth less time. Default false.
   */
  readonly isOptimised?: boolean;
  roleOf(capture: string): Role;
}

/**
 * The functions of the runtime that are called here. Parser.init() adds them to the options object that is passed to
 * it.
 */
interface Bindings {
  readonly HEAP32: Int32Array;
  readonly HEAPU8: Uint8Array;
  currentParseCallback: ((index: number) => string) | null;
  currentProgressCallback: (() => boolean) | null;
  currentQueryProgressCallback: (() => boolean) | null;
  UTF8ToString(address: number, length?: number): string;
  stringToUTF8(text: string, address: number, capacity: number): void;
  loadWebAssemblyModule(
    module: WebAssembly.Module,
    flags: { loadAsync: true },
  ): Promise<Record<string, () => number>>;
  _malloc(length: number): number;
  _free(address: number): void;
  _ts_init(): number;
  _ts_parser_new_wasm(): void;
  _ts_parser_set_language(parser: number, language: number): number;
  _ts_parser_reset(parser: number): void;
  _ts_parser_parse_wasm(
    parser: number,
    read: number,
    oldTree: number,
    ranges: number,
    rangeCount: number,
  ): number;
  _ts_tree_delete(tree: number): void;
  _ts_tree_root_node_wasm(tree: number): void;
  _ts_node_has_error_wasm(tree: number): number;
  _ts_node_end_index_wasm(tree: number): number;
  _ts_tree_cursor_new_wasm(tree: number): void;
  _ts_tree_cursor_delete_wasm(tree: number): void;
  _ts_tree_cursor_current_node_type_id_wasm(tree: number): number;
  _ts_tree_cursor_current_field_id_wasm(tree: number): number;
  _ts_tree_cursor_current_node_is_named_wasm(tree: number): number;
  _ts_tree_cursor_start_index_wasm(tree: number): number;
  _ts_tree_cursor_end_index_wasm(tree: number): number;
  _ts_tree_cursor_goto_first_child_wasm(tree: number): number;
  _ts_tree_cursor_goto_next_sibling_wasm(tree: number): number;
  _ts_tree_cursor_goto_parent_wasm(tree: number): number;
  _ts_language_symbol_count(language: number): number;
  _ts_language_symbol_name(language: number, id: number): number;
  _ts_language_field_count(language: number): number;
  _ts_language_field_name_for_id(language: number, id: number): number;
  _ts_query_new(
    language: number,
    source: number,
    length: number,
    errorOffset: number,
    errorType: number,
  ): number;
  _ts_query_capture_count(query: number): number;
  _ts_query_capture_name_for_id(query: number, id: number, length: number): number;
  _ts_query_matches_wasm(...args: number[]): void;
}

/** A position in a syntax tree. The methods that move return whether there is such a node. */
export interface TreeCursor {
  /** The number of the node's type in `typeNames`. */
  readonly type: number;
  /** The number of the node's field in `fieldNames`, or 0 if the node has none. */
  readonly field: number;
  readonly isNamed: boolean;
  /** The range of the node in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  toFirstChild(): boolean;
  toNextSibling(): boolean;
  toParent(): boolean;
}

type Imports = ConstructorParameters<typeof WebAssembly.Instance>[1];

const RUNTIME = "web-tree-sitter";
const SLICE = 5119; // in UTF-16 units; the size of the runtime's input buffer
const NODE_WORDS = 5;
const UNLIMITED = -1;

const compiled = new Map<string, WebAssembly.Module>();

/** Compiles a module, once per thread and value of `isOptimised`. */
function compile(specifier: string, isOptimised: boolean): WebAssembly.Module {
  const key = isOptimised ? `${specifier} optimised` : specifier;
  let module = compiled.get(key);
  if (module === undefined) {
    const bytes = readWasm(specifier);
    module = isOptimised
      ? new WebAssembly.Module(Buffer.concat([bytes, EMPTY_SECTION]))
      : withoutTierUp(() => new WebAssembly.Module(bytes));
    compiled.set(key, module);
  }
  return module;
}

/**
 * An empty section, which is appended to modules that V8 may optimise. V8 compiles equal bytes only once for all
 * threads. The section makes the bytes different from those of the same module without optimisation.
 */
const EMPTY_SECTION = Uint8Array.of(0, 2, 1, 0x6f);

/**
 * Compiles a module that V8 will not optimise. The lexer of a grammar is one function of up to 100 KB. V8 would
 * optimise it in the background for ten to forty seconds, and a process that exits waits until V8 is done. Baseline
 * code parses as fast as optimised code (13 MB/s of C). A module keeps the flags with which it was compiled, so other
 * modules are not affected.
 */
function withoutTierUp<T>(compileModule: () => T): T {
  const flags = ["wasm-dynamic-tiering", "wasm-tier-up", "wasm-lazy-compilation"];
  for (const flag of flags) setFlagsFromString(`--no-${flag}`);
  try {
    return compileModule();
  } finally {
    for (const flag of flags) setFlagsFromString(`--${flag}`);
  }
}

/**
 * Creates a new instance of the runtime. The package creates only one instance for each time that its code is loaded,
 * so the code is loaded again here. Each call creates its own `require`, because a `require` keeps everything that it
 * has loaded alive.
 */
async function instantiate(isOptimised: boolean): Promise<Bindings> {
  const module = compile(`${RUNTIME}/tree-sitter.wasm`, isOptimised);
  const require = createRequire(import.meta.url);
  const path = require.resolve(RUNTIME);
  delete require.cache[path];
  const { Parser } = require(path) as { Parser: { init(options: object): Promise<void> } };
  delete require.cache[path];
  const options = {
    printErr: () => undefined, // an abort would print a message before it throws
    instantiateWasm(imports: Imports, receive: (...made: unknown[]) => void) {
      receive(new WebAssembly.Instance(module, imports), module);
    },
  };
  await Parser.init(options);
  return options as unknown as Bindings;
}

export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const c = await instantiate(options.isOptimised === true);
  const module = compile(options.grammar, false);
  const functions = await c.loadWebAssemblyModule(module, { loadAsync: true });
  const entry = Object.keys(functions).find(
    (name) => name.startsWith("tree_sitter_") && !name.includes("_external_scanner_"),
  );
  assert(entry !== undefined, `${options.grammar} is not a grammar`);
  return new Runtime(c, functions[entry]!(), options);
}

export class Runtime {
  readonly #c: Bindings;
  readonly #transfer: number;
  readonly #parser: number;
  readonly #input: number;
  readonly #query: number;
  /** For each capture, the index of its role's integers within a match. */
  readonly #places: Int32Array;
  readonly #language: number;
  /** The names of the captures in the query, by number. */
  readonly captures: readonly string[];
  #values = new Int32Array(MATCH_STRIDE * 256);
  readonly isOptimised: boolean;
  /** The amount of text that was parsed so far, in UTF-16 units. */
  unitsRead = 0;

  constructor(c: Bindings, language: number, options: RuntimeOptions) {
    this.#c = c;
    this.isOptimised = options.isOptimised === true;
    this.#transfer = c._ts_init();
    c._ts_parser_new_wasm();
    this.#parser = this.#word(0);
    this.#input = this.#word(1);
    this.#language = language;
    assert(c._ts_parser_set_language(this.#parser, language) === 1, options.grammar);
    this.#query = this.#compileQuery(language, options.query);
    this.captures = this.#captureNames();
    this.#places = Int32Array.from(this.captures, (name) => ROLES[options.roleOf(name)]);
  }

  /** The size of the instance's memory in bytes. The memory never shrinks. */
  get heapBytes(): number {
    return this.#c.HEAPU8.length;
  }

  /**
   * Parses a text and runs the query. Returns the matches in the order in which the query finds them, or undefined if
   * the time limit is reached.
   */
  match(text: SourceText, isOver: () => boolean): Matches | undefined {
    this.unitsRead += text.length;
    const tree = this.#parse(text, isOver);
    if (tree === 0) return undefined;
    try {
      return this.#run(tree, isOver);
    } finally {
      this.#c._ts_tree_delete(tree);
    }
  }

  /** The names of the types of nodes, by number. Several numbers may have the same name. */
  typeNames(): string[] {
    const c = this.#c;
    return Array.from({ length: c._ts_language_symbol_count(this.#language) }, (_, id) =>
      c.UTF8ToString(c._ts_language_symbol_name(this.#language, id)),
    );
  }

  /** The names of the fields of nodes, by number. There is no field 0. */
  fieldNames(): string[] {
    const c = this.#c;
    return Array.from({ length: c._ts_language_field_count(this.#language) + 1 }, (_, id) =>
      id === 0 ? "" : c.UTF8ToString(c._ts_language_field_name_for_id(this.#language, id)),
    );
  }

  /**
   * Parses a text, and calls `visit` with a cursor at the root of its syntax tree. Returns the result of `visit`, or
   * undefined if the time limit is reached while parsing. The cursor is valid only during the call.
   */
  walk<T>(
    text: SourceText,
    isOver: () => boolean,
    visit: (cursor: TreeCursor, hasError: boolean) => T,
  ): T | undefined {
    this.unitsRead += text.length;
    const tree = this.#parse(text, isOver);
    if (tree === 0) return undefined;
    const c = this.#c;
    c._ts_tree_root_node_wasm(tree);
    const hasError = c._ts_node_has_error_wasm(tree) !== 0;
    c._ts_tree_root_node_wasm(tree);
    // the runtime keeps the cursor in the transfer buffer, which no call below uses for anything else
    c._ts_tree_cursor_new_wasm(tree);
    try {
      return visit(new Cursor(c, tree), hasError);
    } finally {
      c._ts_tree_cursor_delete_wasm(tree);
      c._ts_tree_delete(tree);
    }
  }

  #word(index: number): number {
    return this.#c.HEAP32[(this.#transfer >> 2) + index]!;
  }

  /**
   * Returns the address of the syntax tree, or 0 if the time limit is reached. When the limit is reached, the parser
   * also sees the end of the input. Otherwise a lexer that recovers from an error could read a long word again from
   * each of its letters, all within one step of the parser. The clock is read every hundred steps of the parser. A
   * hundred steps take about 10 µs, but up to a second if the parser's stack has split into hundreds of stacks.
   */
  #parse(text: SourceText, isOver: () => boolean): number {
    const c = this.#c;
    let isWhole = true;
    c.currentParseCallback = (index) => {
      isWhole &&= !isOver();
      // a scanner may need the newline after a comment on the last line
      if (index === text.length) return isWhole ? "\n" : "";
      return isWhole ? text.slice(index, SLICE) : "";
    };
    c.currentProgressCallback = isOver;
    const tree = c._ts_parser_parse_wasm(this.#parser, this.#input, 0, 0, 0);
    c.currentParseCallback = null;
    c.currentProgressCallback = null;
    if (isWhole && tree !== 0) return tree;
    if (tree === 0) c._ts_parser_reset(this.#parser);
    else c._ts_tree_delete(tree);
    return 0;
  }

  /** Runs the query on a syntax tree. Returns undefined if the time limit is reached. */
  #run(tree: number, isOver: () => boolean): Matches | undefined {
    const c = this.#c;
    c._ts_tree_root_node_wasm(tree);
    const hasError = c._ts_node_has_error_wasm(tree) !== 0;
    c._ts_tree_root_node_wasm(tree);
    let late = false;
    c.currentQueryProgressCallback = () => (late ||= isOver());
    c._ts_query_matches_wasm(this.#query, tree, 0, 0, 0, 0, 0, 0, UNLIMITED, UNLIMITED, 0);
    c.currentQueryProgressCallback = null;
    const count = this.#word(0);
    const address = this.#word(1);
    if (!late) this.#read(tree, address, count);
    c._free(address);
    return late ? undefined : { count, hasError, values: this.#values };
  }

  /**
   * Reads all matches from the runtime's memory into #values. In that memory, a match has the index of its pattern,
   * the number of its captures, and then each capture. A capture has its number and its node, which takes NODE_WORDS
   * words.
   */
  #read(tree: number, address: number, count: number): void {
    if (this.#values.length < count * MATCH_STRIDE)
      this.#values = new Int32Array(count * MATCH_STRIDE * 2);
    const words = this.#c.HEAP32;
    const values = this.#values;
    const transfer = this.#transfer >> 2;
    let at = address >> 2;
    for (let base = 0; base < count * MATCH_STRIDE; base += MATCH_STRIDE) {
      values.fill(-1, base, base + MATCH_STRIDE);
      values[base + PATTERN] = words[at]!;
      const last = at + 2 + words[at + 1]! * (NODE_WORDS + 1);
      for (at += 2; at < last; at += NODE_WORDS + 1) {
        const place = base + this.#places[words[at]!]!;
        for (let word = 0; word < NODE_WORDS; word++)
          words[transfer + word] = words[at + 1 + word]!;
        values[place] = words[at]!;
        values[place + 1] = words[at + 2]!;
        values[place + 2] = this.#c._ts_node_end_index_wasm(tree);
      }
    }
  }

  #compileQuery(language: number, source: string): number {
    const c = this.#c;
    const capacity = source.length * 3 + 1;
    const address = c._malloc(capacity);
    c.stringToUTF8(source, address, capacity);
    const length = c.HEAPU8.indexOf(0, address) - address;
    const query = c._ts_query_new(language, address, length, this.#transfer, this.#transfer + 4);
    c._free(address);
    assert(
      query !== 0,
      `query: error ${this.#word(1)} at ${source.slice(this.#word(0)).slice(0, 60)}`,
    );
    return query;
  }

  #captureNames(): string[] {
    const c = this.#c;
    return Array.from({ length: c._ts_query_capture_count(this.#query) }, (_, id) => {
      const address = c._ts_query_capture_name_for_id(this.#query, id, this.#transfer);
      return c.UTF8ToString(address, this.#word(0));
    });
  }
}

class Cursor implements TreeCursor {
  readonly #c: Bindings;
  readonly #tree: number;

  constructor(c: Bindings, tree: number) {
    this.#c = c;
    this.#tree = tree;
  }

  get type(): number {
    return this.#c._ts_tree_cursor_current_node_type_id_wasm(this.#tree);
  }

  get field(): number {
    return this.#c._ts_tree_cursor_current_field_id_wasm(this.#tree);
  }

  get isNamed(): boolean {
    return this.#c._ts_tree_cursor_current_node_is_named_wasm(this.#tree) !== 0;
  }

  get start(): number {
    return this.#c._ts_tree_cursor_start_index_wasm(this.#tree);
  }

  get end(): number {
    return this.#c._ts_tree_cursor_end_index_wasm(this.#tree);
  }

  toFirstChild(): boolean {
    return this.#c._ts_tree_cursor_goto_first_child_wasm(this.#tree) !== 0;
  }

  toNextSibling(): boolean {
    return this.#c._ts_tree_cursor_goto_next_sibling_wasm(this.#tree) !== 0;
  }

  toParent(): boolean {
    return this.#c._ts_tree_cursor_goto_parent_wasm(this.#tree) !== 0;
  }
}
