/** Tools that a host leaves out are neither listed nor called. */

import { describe, expect, test } from "vitest";
import { createHandler, type HandlerOptions } from "../../src/http/index.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { TOOLS } from "../../src/mcp/server.ts";
import { TOOL_NAMES } from "../../src/mcp/tool-names.ts";
import { sharedEngine } from "../engine/opened.ts";
import { connected } from "./connected.ts";

const shop = sharedEngine((engine) =>
  engine.index(documents({ name: "shop", files: [{ path: "a.ts", content: "needle\n" }] })),
);

const DOORS = {
  createMcpHandler: {
    path: "/mcp",
    handlerOf: (withoutTools: string[]) => createMcpHandler(shop(), { withoutTools }),
  },
  createHandler: {
    path: "/api/mcp",
    handlerOf: (withoutTools: string[]) => {
      const options: HandlerOptions = { anonymous: "all", mcp: { withoutTools } };
      return createHandler(shop(), options);
    },
  },
};

test("the names that options accept are those of the tools", () => {
  expect(TOOL_NAMES).toEqual(TOOLS.map(({ name }) => name));
});

describe.each(Object.entries(DOORS))("%s", (_, { path, handlerOf }) => {
  test.each<[string[]]>([[[]], [["history"]], [["read", "search"]]])(
    "without %j",
    async (withoutTools) => {
      const client = await connected(handlerOf(withoutTools), { path });
      const { tools } = await client.listTools();
      const offered = TOOL_NAMES.filter((name) => !withoutTools.includes(name));
      expect(tools.map(({ name }) => name)).toEqual(offered);
      for (const name of withoutTools)
        await expect(client.callTool({ name, arguments: {} })).rejects.toThrow(/not found/);
      const templates = withoutTools.includes("read") ? 0 : 1;
      const list = client.listResourceTemplates().catch(() => ({ resourceTemplates: [] }));
      expect((await list).resourceTemplates.length).toBe(templates);
    },
  );

  test("a name that is not a tool's is rejected", () => {
    expect(() => handlerOf(["histroy"])).toThrow(/there is no tool "histroy"; there are search, /);
  });
});
