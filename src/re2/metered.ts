/**
 * Adds fuel metering to a WebAssembly module, so that the caller of the module can stop it. Each iteration of each loop
 * decrements a global, which is exported as "fuel". When the global is zero, the loop calls an imported function, which
 * refills the global or throws. Metering only loops is enough, because the length of the code bounds how much can run
 * between two iterations.
 *
 *     loop ...   becomes   loop  (if (i32.eqz (global.get fuel)) (then (call tick)))
 *                                (global.set fuel (i32.sub (global.get fuel) (i32.const 1)))  ...
 *
 * Supports the instructions of WebAssembly 1.0, sign extension and bulk memory. The module must not import globals. The
 * bytes of the module are read once, which takes 10 ms per MiB.
 */

const [IMPORTS, GLOBALS, EXPORTS, CODE] = [2, 6, 7, 10];
const LOOP = 0x03;

/** The operands of an opcode are 0 to 2 numbers (LEB128), or have one of these special forms. */
const [TABLE, TYPES, F32, F64, BULK, UNKNOWN] = [3, 4, 5, 6, 7, 8];

const OPERANDS = new Uint8Array(256).fill(UNKNOWN);
for (const [operands, ...ranges] of [
  [0, [0x00, 0x01], [0x05], [0x0b], [0x0f], [0x1a, 0x1b], [0x45, 0xc4]],
  [1, [0x02, 0x04], [0x0c, 0x0d], [0x10], [0x20, 0x24], [0x3f, 0x42]],
  [2, [0x11], [0x28, 0x3e]],
  [TABLE, [0x0e]],
  [TYPES, [0x1c]],
  [F32, [0x43]],
  [F64, [0x44]],
  [BULK, [0xfc]],
] as [number, ...number[][]][])
  for (const [first, last = first] of ranges) OPERANDS.fill(operands, first, last! + 1);

/**
 * The number of operands of each instruction with the prefix 0xfc. The conversions come first, followed by the
 * instructions for bulk memory.
 */
const BULK_OPERANDS = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2];

/**
 * Returns the positions in [from, end) at which the bodies of loops begin. V8 does not optimize this function, because
 * each thread reads a module only once. So this is one long function, which calls other functions only for rare
 * instructions.
 */
function loopsOf(code: Uint8Array, from: number, end: number): number[] {
  const loops: number[] = [];
  for (let at = from; at < end;) {
    const opcode = code[at++]!;
    let numbers = OPERANDS[opcode]!;
    if (numbers > 2) {
      const reader = new Reader(code, at);
      numbers = operandsOf(numbers, reader);
      at = reader.at;
    }
    for (; numbers > 0; numbers--) while (code[at++]! >= 128);
    if (opcode === LOOP) loops.push(at);
  }
  return loops;
}

/** Reads operands of a special form. Returns how many numbers the caller still has to skip. */
function operandsOf(kind: number, reader: Reader): number {
  switch (kind) {
    case TABLE:
      return reader.number() + 1;
    case TYPES:
      return reader.number();
    case F32:
    case F64:
      reader.at += kind === F32 ? 4 : 8;
      return 0;
    case BULK:
      return BULK_OPERANDS[reader.number()] ?? unknown();
    default:
      return unknown();
  }
}

function unknown(): never {
  throw new Error("the module contains an unknown instruction");
}

class Reader {
  at: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  /** Reads an unsigned LEB128 number below 2^32. */
  number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.at++]!;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }
}

function leb(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)];
}

/**
 * Returns a copy of the module that has a meter. `tick` is the name of the imported function that the meter calls. This
 * function has no parameters and no results.
 */
export function metered(module: Uint8Array, tick: string): Uint8Array<ArrayBuffer> {
  const out: Uint8Array[] = [module.subarray(0, 8)];
  const reader = new Reader(module, 8);
  let [called, fuel] = [0, 0];
  while (reader.at < module.length) {
    const id = module[reader.at++]!;
    const length = reader.number();
    const section = module.subarray(reader.at, reader.at + length);
    reader.at += length;
    if (id === IMPORTS) called = functionNamed(section, tick);
    if (id === GLOBALS) fuel = new Reader(section).number();
    for (const part of sealedSection(id, rewritten(id, section, { called, fuel }))) out.push(part);
  }
  return new Uint8Array(Buffer.concat(out));
}

const sealedSection = (id: number, parts: readonly Uint8Array[]): Uint8Array[] => {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return [Uint8Array.of(id, ...leb(length)), ...parts];
};

interface Meter {
  /** The index of the imported function that refills the fuel. */
  readonly called: number;
  /** The index of the global that holds the fuel. */
  readonly fuel: number;
}

function rewritten(id: number, section: Uint8Array, meter: Meter): Uint8Array[] {
  switch (id) {
    case GLOBALS:
      // a mutable i32 with the initial value 0
      return oneMore(section, [0x7f, 1, 0x41, 0, 0x0b]);
    case EXPORTS:
      return oneMore(section, [4, ...Buffer.from("fuel"), 3, ...leb(meter.fuel)]);
    case CODE:
      return meteredCode(section, meter);
    default:
      return [section];
  }
}

/** Appends an item to a section that consists of a list of items. */
function oneMore(section: Uint8Array, item: readonly number[]): Uint8Array[] {
  const reader = new Reader(section);
  const count = Uint8Array.from(leb(reader.number() + 1));
  return [count, section.subarray(reader.at), Uint8Array.from(item)];
}

/** Returns the index of an imported function. REQUIRES: the module imports only functions and then one memory. */
function functionNamed(imports: Uint8Array, wanted: string): number {
  const reader = new Reader(imports);
  const name = (): string => {
    const length = reader.number();
    reader.at += length;
    return Buffer.from(imports.subarray(reader.at - length, reader.at)).toString();
  };
  const count = reader.number();
  for (let index = 0; index < count; index++) {
    const isWanted = (name(), name()) === wanted;
    if (imports[reader.at++] !== 0) break;
    reader.number(); // skips the index of the function's type
    if (isWanted) return index;
  }
  throw new Error(`the module imports no function ${wanted}`);
}

function meteredCode(section: Uint8Array, { called, fuel }: Meter): Uint8Array[] {
  const [get, set] = [
    [0x23, ...leb(fuel)],
    [0x24, ...leb(fuel)],
  ];
  const tick = [...get, 0x45, 0x04, 0x40, 0x10, ...leb(called), 0x0b];
  const meterCode = Uint8Array.of(...tick, ...get, 0x41, 1, 0x6b, ...set);
  const reader = new Reader(section);
  const count = reader.number();
  const out: Uint8Array[] = [section.subarray(0, reader.at)];
  for (let i = 0; i < count; i++) {
    const length = reader.number();
    const [start, end] = [reader.at, reader.at + length];
    for (let locals = 2 * reader.number(); locals > 0; locals--) reader.number();
    const loops = loopsOf(section, reader.at, end);
    out.push(Uint8Array.from(leb(length + meterCode.length * loops.length)));
    let from = start;
    for (const loop of loops) {
      out.push(section.subarray(from, loop), meterCode);
      from = loop;
    }
    out.push(section.subarray(from, end));
    reader.at = end;
  }
  return out;
}
