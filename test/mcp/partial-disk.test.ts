/** What answers say if the disk is the cause: a damaged index, notices that get lost, a writer in the way. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { coreOf } from "../../src/core-of.ts";
import type { Engine } from "../../src/engine.ts";
import { EngineFacade } from "../../src/engine-facade.ts";
import { open } from "../../src/opened-engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { Source } from "../../src/ingest/sources/source.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { answerCall, TOOLS } from "../../src/mcp/server.ts";
import { NO_NOTICES, systemNotices, type MakeNotices } from "../../src/workspace/notices.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";
import { callTool, connected } from "./connected.ts";
import { toolContext } from "./tool-context.ts";

/** A few files, after which a search waits for the index. */
const MOST = { files: 40, bytes: 2 ** 20 };

// ── a damaged data file ──

const WORD = "damagedneedle";

/** Makes two segments. The text of one is damaged. */
async function damaged(): Promise<Engine> {
  const path = temporaryFolder();
  const engine = await open(path, { workers: 0 });
  const body = `export function first() {}\n${"// filler of a page\n".repeat(50)}`;
  await engine.index(
    documents({ name: "acme/broken", files: [{ path: "a.ts", content: `${body}${WORD}\n` }] }),
  );
  await engine.index(
    documents({ name: "acme/whole", files: [{ path: "b.ts", content: `whole${WORD}\n` }] }),
  );
  await engine.close();
  const file = join(path, "quern.mdb");
  const bytes = readFileSync(file);
  let hit = 0;
  for (
    let at = bytes.indexOf("filler of a page");
    at >= 0;
    at = bytes.indexOf("filler of a page", at + 1)
  ) {
    bytes[at]! ^= 1;
    hit++;
  }
  expect(hit).toBeGreaterThanOrEqual(50);
  writeFileSync(file, bytes);
  const again = await open(path, { workers: 0 });
  onTestFinished(() => again.close());
  return again;
}

test.each([
  ["search", { query: WORD }],
  ["references", { symbol: WORD }],
  ["search", { query: "filler of a page" }],
])("a damaged segment: %s %j says so", async (tool, args) => {
  const client = await connected(createMcpHandler(await damaged()));
  const { text, facts } = await callTool(client, tool, args);
  expect(text).toContain("INCOMPLETE: 1 part of the index is damaged and was not searched.");
  expect(facts.complete).toBe(false);
});

test("undamaged files are found, and a damaged file gets a clear refusal", async () => {
  const client = await connected(createMcpHandler(await damaged()));
  const found = await callTool(client, "search", { query: WORD });
  expect(found.text).toContain(`1: whole${WORD}`);
  const file = { file: "a.ts", repository: "acme/broken" };
  expect(await callTool(client, "read", file)).toMatchObject({
    isError: true,
    text: expect.stringMatching(/damaged|corrupt/i) as string,
  });
});

// ── a watcher that receives no notices, or receives them too late ──

const DEAF: [what: string, notices: MakeNotices][] = [
  ["no notices come", () => NO_NOTICES],
  [
    "notices are lost",
    (root, onLost) => {
      const system = systemNotices(root, () => {});
      return {
        watch: (folder) => system.watch(folder, { changed: () => onLost(), ended: () => {} }),
        barrier: () => system.barrier(),
        close: () => system.close(),
      };
    },
  ],
  [
    "no folder may be watched",
    (root, onLost) => {
      const system = systemNotices(root, onLost);
      return {
        watch: () => undefined,
        barrier: () => system.barrier(),
        close: () => system.close(),
      };
    },
  ],
];

async function followed(notices?: MakeNotices) {
  const root = join(temporaryFolder(), "shop");
  mkdirSync(root);
  writeFileSync(join(root, "a.ts"), "const needle = 0;\n");
  const engine = await openEngine({
    internals: {
      workspaces: { withSymbols: MOST, overlaid: MOST },
      ...(notices && { notices }),
    },
  });
  await engine.workspace(root);
  const fresh = new EngineFacade(coreOf(engine).upToDate());
  const context = toolContext(fresh);
  const call = async (name: string, args: object) => {
    const { input, run } = TOOLS.find((one) => one.name === name)!;
    const { content, structuredContent, isError } = await answerCall(() =>
      run(input.parse(args), context),
    );
    const [first] = content as { text: string }[];
    const facts = structuredContent as { matches?: number; complete: boolean } | undefined;
    return { text: first!.text, facts, isError };
  };
  return { root, engine, call };
}

test.each(DEAF)("%s: answers match the disk, and lack nothing", async (_, notices) => {
  const { root, call } = await followed(notices);
  for (let i = 1; i < 4; i++) {
    writeFileSync(join(root, "a.ts"), `const needle = ${i};\n`);
    writeFileSync(join(root, `new${i}.ts`), "const needle = true;\n");
    const { text, facts } = await call("search", { query: "needle" });
    expect(text).toContain(`1: const needle = ${i};`);
    expect(facts).toMatchObject({ matches: 2, complete: true });
    rmSync(join(root, `new${i}.ts`));
  }
});

test("a folder that no longer exists is reported", async () => {
  const { root, call } = await followed();
  rmSync(root, { recursive: true });
  const { text, isError } = await call("search", { query: "needle" });
  expect(isError).toBe(true);
  expect(text).toMatch(/^there is no folder .*shop/);
});

/** More changes than can be laid over an index, while another process writes it. */
test("if an index cannot catch up because another process writes it, the answer says so", async () => {
  const { root, engine, call } = await followed();
  const other = await open(engine.path, { workers: 0, lockTimeoutMs: 60_000 }); // it may still look for symbols
  let end = () => {};
  let begun = () => {};
  const hasBegun = new Promise<void>((resolve) => (begun = resolve));
  const blocked: Source = {
    ...documents({ name: "acme/other", files: [] }),
    open: () =>
      new Promise((_, reject) => {
        begun();
        end = () => reject(new Error("ended"));
      }),
  };
  const writing = other.index(blocked).catch(() => undefined);
  await hasBegun;
  for (let i = 0; i <= MOST.files; i++) writeFileSync(join(root, `${i}.ts`), "const needle = 1;\n");
  const { text, isError } = await call("search", { query: "needle" });
  expect(isError).toBe(true);
  expect(text).toMatch(/process \d+ is writing .*Ask again in a few seconds\.$/s);
  end();
  await writing;
  await other.close();
  await expect
    .poll(async () => (await call("search", { query: "needle" })).facts?.matches, {
      timeout: 280_000,
    })
    .toBe(MOST.files + 2);
});
