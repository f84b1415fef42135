/** Navigation through an engine: places, certainties, callers, implementations, viewers, unsaved text, and bad input. */

import { expect, test } from "vitest";
import { openEngine } from "../engine/opened.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { Engine } from "../../src/engine.ts";
import type { NavigationAnswer, NavigationPlace } from "../../src/navigation/request.ts";

const SHOP = {
  "src/cart.ts": `export interface Priced {
  price(): number;
}
export class Cart implements Priced {
  items: Item[] = [];
  add(item: Item): void {
    this.items.push(item); // add is called by the shop
  }
  price(): number {
    return this.items.length;
  }
}
export class Item {}
`,
  "src/shop.ts": `import { Cart as Basket, Item } from "./cart.ts";
export function sell(): number {
  const cart = new Basket();
  cart.add(new Item());
  return cart.price();
}
export const log = (thing: { add(x: number): void }) => thing.add(1);
export function unknown(thing: any) {
  thing.add(2);
  console.log("add");
}
`,
  "src/main.ts": `import { sell } from "./shop.ts";
function main(): void {
  sell();
}
main();
`,
  "go.mod": "module example.com/shop\n",
  "pkg/store.go": `package pkg

type Store interface {
	Put(key string) error
}

type Disk struct{ path string }

func (d *Disk) Put(key string) error { return nil }

func fill(s Store) { s.Put("é") }

func both(d *Disk) { d.Put("x"); d.path = "y" }
`,
  "lib/base.py": `class Base:
    def run(self):
        return self.step()

    def step(self):
        return 1


class Child(Base):
    def step(self):
        return super().step()


def start():
    child = Child()
    child.run()
`,
};

const files = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([path, content]) => ({ path, content }));

async function opened(): Promise<Engine> {
  const engine = await openEngine();
  await engine.index(documents({ name: "shop", files: files(SHOP) }));
  return engine;
}

const show = ({ path, range, certainty, use }: NavigationPlace): string =>
  `${path}:${range.start.lineNumber}:${range.start.column} ${certainty} ${use}`;
const places = ({ places: all }: NavigationAnswer): string[] => all.map(show);

test("uses have a certainty, and other declarations, comments and texts are counted", async () => {
  const engine = await opened();
  const answer = await engine.usesOf({ symbol: "Cart.add", repository: "shop" });
  expect(answer.targets.map(show)).toEqual(["src/cart.ts:6:3 resolved definition"]);
  expect(places(answer)).toEqual([
    "src/shop.ts:4:8 resolved call",
    "src/shop.ts:9:9 possible call",
  ]);
  expect(answer.counts).toEqual({ resolved: 1, likely: 0, possible: 1 });
  expect(answer.leftOut).toEqual({ otherDeclarations: 2, comments: 1, strings: 1 });
  expect(answer.places[0]!.inside).toEqual({ symbol: "sell", kind: "function" });
});

test("a name under an alias, a place in a method, and a field have their definitions", async () => {
  const engine = await opened();
  const at = (path: string, line: number, column: number) =>
    engine.definitionsOf({ repository: "shop", path, line, column });
  expect(places(await at("src/shop.ts", 3, 21))).toEqual(["src/cart.ts:4:14 resolved definition"]);
  expect(places(await at("src/shop.ts", 5, 15))).toEqual(["src/cart.ts:9:3 resolved definition"]);
  expect(places(await at("pkg/store.go", 13, 24))).toEqual([
    "pkg/store.go:9:16 resolved definition",
  ]);
  expect(places(await at("lib/base.py", 11, 24))).toEqual(["lib/base.py:5:9 resolved definition"]);
  expect(places(await at("src/shop.ts", 10, 3))).toEqual([]);
});

test("uses are told as writes, types, imports and reads, with columns in code points", async () => {
  const engine = await opened();
  const usesOf = async (symbol: string) =>
    places(await engine.usesOf({ symbol, repository: "shop" }));
  expect(await usesOf("Disk.path")).toEqual(["pkg/store.go:13:36 resolved write"]);
  expect(await usesOf("Item")).toEqual([
    "src/cart.ts:5:10 resolved type",
    "src/cart.ts:6:13 resolved type",
    "src/shop.ts:1:26 resolved import",
    "src/shop.ts:4:16 resolved call",
  ]);
  expect(await usesOf("Store.Put")).toEqual(["pkg/store.go:11:24 resolved call"]);
});

test("callers are found up to a depth, each with the call through which it was found", async () => {
  const engine = await opened();
  const { places: found } = await engine.callersOf(
    { symbol: "Cart.add", repository: "shop" },
    { depth: 3, atLeast: "resolved" },
  );
  expect(found.map(({ inside, depth, via }) => [inside?.symbol, depth, show(via)])).toEqual([
    ["sell", 1, "src/shop.ts:4:8 resolved call"],
    ["main", 2, "src/main.ts:3:3 resolved call"],
  ]);
});

test("implementations are the types below a type, and the members that replace a member", async () => {
  const engine = await opened();
  const below = async (symbol: string) =>
    places(await engine.implementationsOf({ symbol, repository: "shop" }));
  expect(await below("Priced")).toEqual(["src/cart.ts:4:14 resolved definition"]);
  expect(await below("Priced.price")).toEqual(["src/cart.ts:9:3 resolved definition"]);
  expect(await below("Base.step")).toEqual(["lib/base.py:10:9 resolved definition"]);
  expect(await below("Store")).toEqual(["pkg/store.go:7:6 resolved definition"]);
});

test("a stream has the same places as the answer, and ends with the counts", async () => {
  const engine = await opened();
  const target = { symbol: "Item", repository: "shop" };
  const streamed: string[] = [];
  let last: unknown;
  for await (const event of engine.streamUses(target)) {
    if (event.type === "places") streamed.push(...event.places.map(show));
    else last = event.answer;
  }
  const { places: all, ...rest } = await engine.usesOf(target);
  expect(streamed.sort()).toEqual(all.map(show).sort());
  expect(last).toEqual(rest);
});

test("pages together have every place once", async () => {
  const engine = await opened();
  const target = { symbol: "Item", repository: "shop" };
  const whole = await engine.usesOf(target);
  const paged: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await engine.usesOf(target, { limit: 3, ...(after !== undefined && { after }) });
    paged.push(...places(page));
    after = page.nextCursor;
    if (after === undefined) break;
  }
  expect(paged).toEqual(places(whole));
  const { nextCursor = "" } = await engine.usesOf(target, { limit: 1 });
  await expect(engine.usesOf({ symbol: "Cart" }, { after: nextCursor })).rejects.toMatchObject({
    code: "INVALID_REQUEST",
  });
});

test("only what the viewer may see answers, and other repositories are not told apart from none", async () => {
  const engine = await opened();
  await engine.index(
    documents({ name: "other", files: files({ "a.ts": "export class Cart {}\n" }) }),
  );
  const shop = (await engine.repository("shop"))!;
  const viewer = { repositoryIds: new Set([shop.id]) };
  const seen = await engine.definitionsOf({ symbol: "Cart" }, { viewer });
  expect(seen.places.map(({ repository }) => repository)).toEqual(["shop"]);
  const all = await engine.definitionsOf({ symbol: "Cart" });
  expect(all.places.map(({ repository }) => repository).sort()).toEqual(["other", "shop"]);
  const refused = async (repository: string): Promise<unknown> =>
    engine
      .usesOf({ symbol: "Cart", repository }, { viewer })
      .catch(({ message }: Error) => message);
  expect(await refused("other")).toBe("there is no repository other");
  expect(await refused("none")).toBe("there is no repository none");
});

test("unsaved text replaces the indexed file", async () => {
  const engine = await opened();
  const overlay = [
    {
      repository: "shop",
      path: "src/main.ts",
      content: 'import { sell } from "./shop.ts";\n\nsell();\n',
    },
  ];
  const answer = await engine.usesOf({ symbol: "sell", repository: "shop" }, { overlay });
  expect(places(answer)).toEqual([
    "src/main.ts:1:10 resolved import",
    "src/main.ts:3:1 resolved call",
  ]);
});

test("answers of workers are those of the calling thread", async () => {
  const engine = await openEngine({ workers: 2 });
  await engine.index(documents({ name: "shop", files: files(SHOP) }));
  const here = await opened();
  for (const symbol of ["Cart.add", "Item", "Store.Put", "Base"]) {
    const target = { symbol, repository: "shop" };
    expect(await engine.usesOf(target)).toEqual(await here.usesOf(target));
  }
});

test.each([
  [{ symbol: "" }, {}, "symbol must be a non-empty string"],
  [{ symbol: "a", line: 1 }, {}, 'unknown field "line"'],
  [{ repository: "shop", path: "src/cart.ts", line: 0, column: 1 }, {}, "line must be"],
  [{ repository: "shop", path: "src/cart.ts", line: 99, column: 1 }, {}, "there is no name at"],
  [{ repository: "shop", path: "src/none.ts", line: 1, column: 1 }, {}, "there is no such file"],
  [{ repository: "shop", path: "go.mod", line: 1, column: 1 }, {}, "no rules for its language"],
  [{ symbol: "a", repository: "shop", revision: "none" }, {}, "has no revision none"],
  [{ symbol: "a" }, { atLeast: "sure" }, "atLeast must be"],
  [{ symbol: "a" }, { limit: 0 }, "limit must be"],
  [{ symbol: "a" }, { depth: 2 }, 'unknown option "depth"'],
])("%j with %j is refused", async (target, options, message) => {
  const engine = await opened();
  await expect(engine.usesOf(target as never, options as never)).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    message: expect.stringContaining(message) as string,
  });
});

test("hostile files have no effect on the answer, and recursion is bounded", async () => {
  const engine = await openEngine();
  const deep = `export const deep = ${"(".repeat(5000)}1${")".repeat(5000)};\n`;
  const chain = `export const chain = x${".add(1)".repeat(3000)};\n`;
  const cycle =
    "export type A = B;\nexport type B = A & { add: C };\nexport class C extends C { self: C = this.self.self; }\n";
  const hostile = files({ "deep.ts": deep, "chain.ts": chain, "cycle.ts": cycle, ...SHOP });
  await engine.index(documents({ name: "shop", files: hostile }));
  const answer = await engine.usesOf(
    { symbol: "Cart.add", repository: "shop" },
    { atLeast: "resolved" },
  );
  expect(places(answer)).toEqual(["src/shop.ts:4:8 resolved call"]);
  expect(await engine.usesOf({ symbol: "self" })).toMatchObject({ isComplete: true });
});
