/** references with a certainty: what an agent reads is exactly as certain as the counts. */

import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { sharedEngine } from "../engine/opened.ts";
import { callTool, connected } from "./connected.ts";

const shop = sharedEngine((engine) =>
  engine.index([
    documents({
      name: "acme/shop",
      files: [
        {
          path: "cart.ts",
          content:
            "export class Cart {\n  total(): number {\n    return 0; // the total\n  }\n  unused(): void {}\n}\n",
        },
        {
          path: "shop.ts",
          content:
            'import { Cart } from "./cart.ts";\nexport function sell(): number {\n  return new Cart().total();\n}\nexport const guess = (thing: any) => thing.total();\nexport const run = () => sell();\n',
        },
      ],
    }),
    documents({
      name: "acme/secret",
      files: [{ path: "a.ts", content: "export class Cart { total() {} }\nnew Cart().total();\n" }],
    }),
  ]),
);

const ask = async (args: Record<string, unknown>) => {
  const id = (await shop().repository("acme/shop"))!.id;
  const handler = createMcpHandler(shop(), { viewer: () => ({ repositoryIds: new Set([id]) }) });
  return (await callTool(await connected(handler), "references", args)).text;
};

test.each([
  [
    { symbol: "Cart.total", certainty: "likely" },
    [
      "# 2 uses of Cart.total: 1 certain, 1 likely (only one total that the file can know).",
      "# Left out: 1 comment.",
      "acme/shop:shop.ts:3 resolved call in sell: return new Cart().total();",
      "acme/shop:shop.ts:5 likely call in guess: export const guess = (thing: any) => thing.total();",
    ],
  ],
  [
    { symbol: "total", certainty: "resolved", file: "cart.ts", line: 2 },
    [
      "# 2 uses of total: 1 certain, 1 likely (only one total that the file can know).",
      "# Left out: 1 comment.",
      "acme/shop:shop.ts:3 resolved call in sell: return new Cart().total();",
    ],
  ],
  [
    { symbol: "unused", certainty: "likely", repository: "shop" },
    [
      "# No use found in 1 file; 0 strings name it. Reflection and other repositories are not seen.",
    ],
  ],
  [
    { symbol: "Cart.total", callers: 2 },
    [
      "# 3 callers of Cart.total. Reflection and other repositories are not seen.",
      "acme/shop:shop.ts:2 resolved definition in sell depth 1: export function sell(): number {",
      "acme/shop:shop.ts:5 likely definition in guess depth 1: export const guess = (thing: any) => thing.total();",
      "acme/shop:shop.ts:6 resolved definition in run depth 2: export const run = () => sell();",
    ],
  ],
  [{ symbol: "nowhere", certainty: "likely" }, ["# No definition of nowhere is known."]],
])("%j", async (args, lines) => {
  expect((await ask(args)).trim().split("\n")).toEqual(lines);
});

test("certainty needs a symbol, which the line must name", async () => {
  expect(await ask({ certainty: "likely", file: "cart.ts", line: 2 })).toContain("require symbol");
  expect(await ask({ symbol: "sell", certainty: "likely", file: "cart.ts", line: 2 })).toContain(
    "line 2 of cart.ts does not name sell",
  );
});
