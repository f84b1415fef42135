import fc from "fast-check";
import { expect, test } from "vitest";
import { parseAddress, formatAddress, type Address } from "../../src/page/frame/address.ts";

const ROOT = "https://example.com/code/";

test.each<[string, Address]>([
  ["", { view: "home" }],
  ["?q=a+b&page=3", { view: "home", filter: "a b", pages: 3 }],
  ["?q=&page=-1", { view: "home" }],
  ["search?q=a+b", { view: "search", query: "a b", regex: false, matchCase: false }],
  ["search?q=%2B&regex=1&case=1", { view: "search", query: "+", regex: true, matchCase: true }],
  [
    "search?q=a&group=repository",
    { view: "search", query: "a", regex: false, matchCase: false, isGrouped: true },
  ],
  [
    "browse/acme/shop@release/2/-/blob/src/a.ts#L3-7",
    {
      view: "file",
      repository: "acme/shop",
      ref: "release/2",
      path: "src/a.ts",
      lines: { from: 3, to: 7 },
    },
  ],
  [
    "browse/shop/-/blob/a%23b%3F#L9",
    { view: "file", repository: "shop", path: "a#b?", lines: { from: 9, to: 9 } },
  ],
  [
    "browse/shop/-/blob/a#L9-L2",
    { view: "file", repository: "shop", path: "a", lines: { from: 2, to: 9 } },
  ],
  ["browse/shop/-/blob/a?blame=1", { view: "file", repository: "shop", path: "a", blame: true }],
  [
    "browse/shop/-/blob/a?name=%24x%26&blame=1#L2",
    {
      view: "file",
      repository: "shop",
      path: "a",
      blame: true,
      name: "$x&",
      lines: { from: 2, to: 2 },
    },
  ],
  [
    "browse/shop/-/blob/b?name=x&at=src%2Fa.ts%3A3%3A14",
    {
      view: "file",
      repository: "shop",
      path: "b",
      name: "x",
      at: { path: "src/a.ts", line: 3, column: 14 },
    },
  ],
  [
    "browse/shop/-/blob/a?name=x&at=a%3A0%3A1",
    { view: "file", repository: "shop", path: "a", name: "x" },
  ],
  ["browse/shop/-/blob/a?at=a%3A1%3A1", { view: "file", repository: "shop", path: "a" }],
  ["find?q=where+is+it", { view: "find", query: "where is it" }],
  ["browse/a%40b@c/-/tree/", { view: "folder", repository: "a@b", ref: "c", path: "" }],
  ["browse/shop/-/commits/src", { view: "commits", repository: "shop", path: "src" }],
  [
    "browse/shop/-/commits/?q=a+b&author=Ada&page=3",
    { view: "commits", repository: "shop", path: "", query: "a b", author: "Ada", page: 3 },
  ],
  ["browse/shop/-/commits/a?page=x&q=", { view: "commits", repository: "shop", path: "a" }],
  ["browse/shop/-/commit/abc", { view: "commit", repository: "shop", hash: "abc" }],
  ["browse/shop", { view: "missing" }],
  ["browse/@x/-/blob/a", { view: "missing" }],
  ["nothing", { view: "missing" }],
])("the address %s is parsed", (text, address) => {
  expect(parseAddress(ROOT + text, ROOT)).toEqual(address);
});

const name = fc
  .string({ minLength: 1, unit: "binary" })
  .filter((text) => !/\p{Cs}/u.test(text) && !/^\.{1,2}$/.test(text));
const path = fc
  .array(name, { minLength: 1, maxLength: 4 })
  .map((names) => names.join("/"))
  .filter(
    (text) => !text.includes("//") && !/^\/|\/$|(^|\/)\.{1,2}(\/|$)|(^|\/)-(\/|$)/.test(text),
  );
const place = fc.record({ repository: path, ref: path, path });

test("any view survives a round trip through its address", () => {
  const addresses: fc.Arbitrary<Address> = fc.oneof(
    fc.record({
      view: fc.constant("search" as const),
      query: fc.string({ unit: "grapheme" }),
      regex: fc.boolean(),
      matchCase: fc.boolean(),
      isGrouped: fc.constant(true),
    }),
    fc.record({ view: fc.constant("home" as const), filter: name, pages: fc.constant(2) }),
    fc.tuple(place, name).map(([where, symbol]) => ({
      view: "file" as const,
      ...where,
      name: symbol,
      lines: { from: 1, to: 20 },
    })),
    place.map((where) => ({ view: "folder" as const, ...where })),
    place.map((where) => ({
      view: "commits" as const,
      ...where,
      query: "a&b",
      author: "É",
      page: 2,
    })),
  );
  fc.assert(
    fc.property(addresses, (address) => {
      expect(parseAddress(ROOT + formatAddress(address), ROOT)).toEqual(address);
    }),
  );
});
