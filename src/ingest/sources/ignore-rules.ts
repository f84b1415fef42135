/**
 * Compiles the rules of one .gitignore file, and tests paths against them. Plain names, plain paths and suffixes
 * (`*.o`) are looked up in maps. All other patterns form one nondeterministic automaton, whose states are bits in
 * 32-bit words.
 *
 * Testing a name of n bytes takes n steps for each of these words, whatever the patterns are. A test
 * reads only the name of a file, because enter() processes the name of each folder when the walk enters the folder.
 */

import { parsePattern, SLASH, type Pattern, type Position } from "./ignore-pattern.ts";

/** The states that the automaton has reached after the names of the folders that the walk has entered. */
export type States = Uint32Array;

/** A path that is to be tested. Its strings are made by bytesOf(). */
export interface Asked {
  readonly name: string;
  /** The path relative to the folder of the rules. */
  readonly path: string;
  readonly isFolder: boolean;
}

/**
 * The index of the last rule that matches a file, and of the last rule that matches a folder, or -1 if there is none.
 */
interface Last {
  file: number;
  folder: number;
}

export class IgnoreRules {
  readonly #negated: boolean[] = [];
  readonly #names = new Map<string, Last>();
  readonly #paths = new Map<string, Last>();
  readonly #endings = new Map<string, Last>();
  readonly #endingLengths = new Set<number>();
  readonly #wild: WildRule[] = [];
  #weight = 0;
  #made: Automaton | undefined;

  /**
   * Adds a line of the file, which overrides earlier lines. REQUIRES: neither begin(), enter() nor test() was called.
   */
  add(line: string): void {
    const pattern = parsePattern(line);
    if (!pattern) return;
    const rule = this.#negated.push(pattern.isNegated) - 1;
    if (this.#addPlain(pattern, rule)) return;
    this.#wild.push({ rule, pattern });
    this.#weight += pattern.positions.length;
  }

  get isEmpty(): boolean {
    return this.#negated.length === 0;
  }

  /** The number of positions that the automaton has or will have. */
  get weight(): number {
    return this.#weight;
  }

  get #automaton(): Automaton {
    return (this.#made ??= new Automaton(this.#wild));
  }

  begin(): States {
    return this.#automaton.start;
  }

  /** Returns the states within the child folder `name` of a folder with these states. */
  enter(states: States, name: string): States {
    return states.length === 0 ? states : this.#automaton.run(states, `${name}/`).slice();
  }

  /** Returns whether a path is ignored, or undefined if no rule matches the path. */
  test(states: States, { name, path, isFolder }: Asked): boolean | undefined {
    const kind = isFolder ? "folder" : "file";
    let rule = Math.max(
      this.#names.get(name)?.[kind] ?? -1,
      this.#paths.get(path)?.[kind] ?? -1,
      this.#automaton.lastAccepted(states, name, isFolder),
    );
    for (const length of this.#endingLengths)
      if (length <= name.length)
        rule = Math.max(rule, this.#endings.get(name.slice(name.length - length))?.[kind] ?? -1);
    return rule === -1 ? undefined : !this.#negated[rule];
  }

  /** Adds a plain name, path or suffix to the maps. Returns false for any other pattern. */
  #addPlain({ positions, isName, isFolder }: Pattern, rule: number): boolean {
    const [first, ...others] = positions;
    const isPlain = others.every(({ stay }) => stay === "nothing") && !first!.isOptional;
    const isEnding = isName && first!.stay === "name";
    if (!isPlain || (first!.stay !== "nothing" && !isEnding)) return false;
    const bytes: number[] = [];
    for (const { next } of positions.slice(0, -1)) {
      if (typeof next !== "number") return false;
      bytes.push(next);
    }
    const text = Buffer.from(bytes).toString("latin1");
    if (isEnding) this.#endingLengths.add(text.length);
    const places = isEnding ? this.#endings : isName ? this.#names : this.#paths;
    const before = places.get(text);
    places.set(text, { file: isFolder ? (before?.file ?? -1) : rule, folder: rule });
    return true;
  }
}

interface WildRule {
  readonly rule: number;
  readonly pattern: Pattern;
}

/**
 * The automaton of all patterns that are not in the maps. It has one bit for each position of each pattern, in the
 * order of the rules.
 */
class Automaton {
  readonly positions: number;
  /** The start positions of the patterns that match paths. */
  readonly start: States;
  /**
   * The start positions of the patterns that match names at any depth. They are added at the beginning of each name.
   */
  readonly #nameStart: States;
  readonly #accepting: { readonly file: States; readonly folder: States };
  readonly #optional: States;
  readonly #staysName: States;
  readonly #staysPath: States;
  readonly #scratch: readonly [States, States];
  readonly #all: Position[] = [];
  /** For each position, the index of its rule. */
  readonly #rules: number[] = [];
  /**
   * For each byte, the positions to which it leads from the previous position. Computed when the byte first occurs.
   */
  readonly #entered: (States | undefined)[] = [];

  constructor(wild: readonly WildRule[]) {
    for (const { rule, pattern } of wild)
      for (const position of pattern.positions) {
        this.#all.push(position);
        this.#rules.push(rule);
      }
    this.positions = this.#all.length;
    const bits = () => new Uint32Array(Math.ceil(this.positions / 32));
    this.start = bits();
    this.#nameStart = bits();
    this.#accepting = { file: bits(), folder: bits() };
    this.#optional = bits();
    this.#staysName = bits();
    this.#staysPath = bits();
    this.#scratch = [bits(), bits()];
    this.#all.forEach(({ stay, isOptional }, at) => {
      if (isOptional) set(this.#optional, at);
      if (stay !== "nothing") set(this.#staysName, at);
      if (stay === "path") set(this.#staysPath, at);
    });
    let at = 0;
    for (const { pattern } of wild) {
      set(pattern.isName ? this.#nameStart : this.start, at);
      if (pattern.positions[0]!.isOptional) [at + 1, at + 2].forEach((to) => set(this.start, to));
      at += pattern.positions.length;
      set(this.#accepting.folder, at - 1);
      if (!pattern.isFolder) set(this.#accepting.file, at - 1);
    }
  }

  /**
   * Returns the states after the bytes of `text`. REQUIRES: the result is not used after the next call, which
   * overwrites it.
   */
  run(states: States, text: string): States {
    if (states.length === 0) return states;
    let [now, spare] = this.#scratch;
    now.set(states);
    for (let i = 0; i < text.length; i++) {
      if (this.#step(now, spare, text.charCodeAt(i)) === 0) return spare;
      [now, spare] = [spare, now];
    }
    return now;
  }

  /** Returns the index of the last rule that accepts the name, or -1 if no rule does. */
  lastAccepted(states: States, name: string, isFolder: boolean): number {
    if (states.length === 0) return -1;
    const start = states.map((word, i) => word | this.#nameStart[i]!);
    const end = this.run(start, name);
    const accepting = isFolder ? this.#accepting.folder : this.#accepting.file;
    for (let i = end.length - 1; i >= 0; i--) {
      const word = (end[i]! & accepting[i]!) >>> 0;
      if (word !== 0) return this.#rules[32 * i + 31 - Math.clz32(word)]!;
    }
    return -1;
  }

  /** Computes the states after one byte, and writes them to `into`. Returns 0 if no state is left. */
  #step(states: States, into: States, byte: number): number {
    const entered = (this.#entered[byte] ??= this.#enteredBy(byte));
    const stays = byte === SLASH ? this.#staysPath : this.#staysName;
    let any = 0;
    let carried = 0; // the last bit of the previous word, which is shifted into this word
    let left = 0; // the bits that are reached by skipping optional positions of the previous word
    for (let i = 0; i < states.length; i++) {
      const word = states[i]!;
      const moved = ((word << 1) | carried) & entered[i]!;
      const reached = moved | (word & stays[i]!) | left;
      const optional = reached & this.#optional[i]!;
      const next = reached | (optional << 1) | (optional << 2);
      into[i] = next;
      any |= next;
      carried = word >>> 31;
      left = (optional >>> 31) | (optional >>> 30);
    }
    return any;
  }

  #enteredBy(byte: number): States {
    const into = new Uint32Array(this.start.length);
    this.#all.forEach(({ next }, at) => {
      if (next === byte || (typeof next === "object" && next[byte] === 1)) set(into, at + 1);
    });
    return into;
  }
}

function set(states: States, at: number): void {
  states[at >>> 5]! |= 1 << (at & 31);
}
