/**
 * A caller may not see everything in an engine. Its resources, templates, completion and prompts must be those of an
 * engine that has only what the caller may see. The two answers are compared as a whole.
 */

import type { Client } from "@modelcontextprotocol/client";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { openEngine } from "../engine/opened.ts";
import { connected } from "./connected.ts";

const TEMPLATE = "quern://{repository}@{revision}/{+path}";
/** The names of the visible and of the hidden repositories begin alike, end alike, and contain each other. */
const SEEN = ["acme/shop", "acme/tools", "shop"];
const HIDDEN = ["acme/shop-secret", "acme/secret", "secret/shop", "acme/to", "a"];
const PATHS = ["src/cart.ts", "src/secret.ts", "README.md", "src/a b#c.ts"];

const source = (name: string) =>
  documents({
    name,
    files: PATHS.filter((path) => HIDDEN.includes(name) || !path.includes("secret")).map(
      (path) => ({
        path,
        content: `${name} ${path}\n`,
      }),
    ),
  });

async function clientOf(names: readonly string[], era: string): Promise<Client> {
  const engine = await openEngine({ workers: 0 });
  onTestFinished(() => engine.close());
  await engine.index(names.map(source));
  const all = await engine.repositories();
  const repositoryIds = new Set(all.filter(({ name }) => SEEN.includes(name)).map(({ id }) => id));
  return connected(createMcpHandler(engine, { viewer: () => ({ repositoryIds }) }), { era });
}

type Ask = (client: Client) => Promise<unknown>;

const name = fc.constantFrom(...SEEN, ...HIDDEN, "nope", "", "acme");
const path = fc.constantFrom(...PATHS, "cart.ts", "nope.ts", "", "src", "../src/cart.ts");
const revision = fc.constantFrom("HEAD", "main", "", "H");
const begun = (whole: fc.Arbitrary<string>) =>
  fc.tuple(whole, fc.nat(12)).map(([text, length]) => text.slice(0, length));

const reading = fc.record({ name, revision, path }).map((asked): [string, Ask] => {
  const uri = `quern://${encodeURIComponent(asked.name)}@${asked.revision}/${asked.path}`;
  return [`read ${uri}`, (client) => client.readResource({ uri })];
});
const completing = fc
  .oneof(
    fc.record({ name: fc.constant("repository"), value: begun(name) }),
    fc.record({ name: fc.constant("revision"), value: begun(revision) }),
    fc.record({ name: fc.constant("path"), value: begun(path) }),
  )
  .chain((argument) =>
    fc.option(name).map((repository): [string, Ask] => {
      const context = repository === null ? {} : { context: { arguments: { repository } } };
      const asked = { ref: { type: "ref/resource" as const, uri: TEMPLATE }, argument, ...context };
      return [`complete ${JSON.stringify(asked)}`, (client) => client.complete(asked)];
    }),
  );
const listing = fc.constantFrom<[string, Ask]>(
  ["resources", (client) => client.listResources()],
  ["templates", (client) => client.listResourceTemplates()],
  ["prompt", (client) => client.getPrompt({ name: "secret" })],
  ["tools", (client) => client.listTools()],
);

async function answerOf(client: Client, ask: Ask): Promise<string> {
  try {
    return JSON.stringify(await ask(client));
  } catch (error) {
    const { name: kind, message, code } = error as Error & { code?: unknown };
    return `${kind} ${String(code)} ${message}`;
  }
}

test.each(["2025", "2026"])("era %s: as if what is hidden were not there", async (era) => {
  const [full, bare] = [await clientOf([...SEEN, ...HIDDEN], era), await clientOf(SEEN, era)];
  expect(full.getServerCapabilities()?.prompts).toBeUndefined(); // no repositories
  const kinds = new Set<string>();
  const holds = async ([what, ask]: [string, Ask]): Promise<void> => {
    const answer = await answerOf(full, ask);
    expect(answer, what).toBe(await answerOf(bare, ask));
    kinds.add(`${what.split(" ")[0]!} ${answer.includes("secret") || answer.length < 60}`);
  };
  await fc.assert(fc.asyncProperty(fc.oneof(reading, completing, listing), holds), {
    numRuns: 150,
  });
  expect(kinds.size).toBeGreaterThan(4); // some of each kind find something, and some find nothing
  expect(
    await answerOf(full, (client) => client.readResource({ uri: "quern://shop@HEAD/README.md" })),
  ).toContain("shop README.md");
});
