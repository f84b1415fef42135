import { EventEmitter } from "node:events";
export * from "./other.js";

/** Émile's café: a comment that is not ASCII. */
export const LIMITS = { small: 1, large: 10 } as const satisfies Record<string, number>;
let counter = 0, total = 0;
var { destructured, renamed: alias } = LIMITS as any;

export type Shape = { kind: "circle"; radius: number } | { kind: "square"; side: number };
type Getters<T> = { [K in keyof T as `get${Capitalize<string & K>}`]: () => T[K] };

export interface Repository<T extends object = object> extends Iterable<T> {
  readonly name: string;
  find(id: number): Promise<T | undefined>;
  new (name: string): Repository<T>;
}

export enum Level { Low, High = 1 << 1, "quoted-name" }
declare const enum Flags { A = 1 }

function logged<This, Args extends unknown[]>(value: (this: This, ...args: Args) => void, context: ClassMethodDecoratorContext) {
  const inner = () => value;
  function nested(): void {}
  return inner();
}

export abstract class Service<const T extends readonly string[]> extends EventEmitter implements Disposable {
  static #instances = 0;
  private readonly items: T[] = [];
  declare legacy: string;
  accessor title = "none";
  handler = async (event: Event) => { const local = event; return local; };

  constructor(private name: string, public readonly size = LIMITS.small) {
    super();
  }
  static { Service.#instances++; }

  @logged
  async *run(signal?: AbortSignal): AsyncGenerator<T> {
    using lock = this.lock();
    for (const item of this.items) yield item;
  }
  get count(): number { return this.items.length; }
  set count(value) { this.items.length = value; }
  abstract stop(): void;
  [Symbol.dispose]() {}
  #secret<U>(arg: U): asserts arg is NonNullable<U> {}
  overloaded(a: string): void;
  overloaded(a: number): void;
  overloaded(a: unknown) {}
}

export default function main<T>(this: void, x: T): x is T & {} { return true; }
export const arrow = <T,>(x: T) => x, curried = (a: number) => (b: number) => a + b;
export const Anonymous = class Named { method() {} };

namespace Geometry.Plane {
  export const origin = [0, 0];
  export function distance() {}
}
declare module "plugin" {
  export function install(): void;
}
declare global { interface Window { quern: string } }
abstract class Base { abstract get value(): string; }
export declare function ambient(x: number): string;
interface Channel<in out T> { read(): T; write(value: T): void }
type Sink<in T> = (value: T) => void;
class Cell<out T extends object, in U = T> {
  accessor value: T | undefined;
  static accessor #shared = 1;
}
const plugins: (import("./plugin.js").Plugin[] | undefined)[] = [];
export type * from "./types.js";
await using session = open();
enum Quoted { "with-dash" = 1, Plain }
const accessor = 1, using = 2, out = accessor;
