/** What a tool costs besides the engine's work: how often it searches, and its own processor time. */

import { expect, test } from "vitest";
import type { SearchResponse } from "../../src/search/messages/response.ts";
import { coreOf } from "../../src/core-of.ts";
import { EngineFacade } from "../../src/engine-facade.ts";
import { documents, type Engine } from "../../src/index.ts";
import { search } from "../../src/mcp/search-tools.ts";
import { sharedEngine } from "../engine/opened.ts";
import { tellFigure } from "../figures.ts";
import { SLOWNESS } from "../slowness.ts";
import { toolContext } from "./tool-context.ts";

const lineOf = (file: number, i: number): string =>
  `  const needle${i} = await fetchOrder(${file}, { retries: ${i % 7} });`;

const shop = sharedEngine((engine) =>
  engine.index([
    documents({
      name: "acme/shop",
      files: Array.from({ length: 300 }, (_, file) => ({
        path: `src/part${file % 9}/file${file}.ts`,
        content: `export function order${file}() {\n${Array.from({ length: 5 }, (_v, i) => lineOf(file, i)).join("\n")}\n}\n`,
      })),
    }),
    documents({
      name: "acme/few",
      files: [{ path: "a.ts", content: "one hay\n".repeat(9) }],
    }),
  ]),
);

/** Returns a context whose engine counts its searches. */
function countingContext(engine: Engine) {
  const counts = { searches: 0 };
  const core = coreOf(engine);
  const counting = new EngineFacade({
    ...core,
    view(options) {
      const view = core.view(options);
      const search: typeof view.search = (...asked) => {
        counts.searches++;
        return view.search(...asked);
      };
      return { ...view, search };
    },
  });
  return { context: toolContext(counting), counts };
}

/** Returns a context whose engine keeps its answers, so that each call runs once. */
function cachedContext(engine: Engine) {
  const answers = new Map<string, unknown>();
  const searches = new Map<
    string,
    { readonly answer: SearchResponse; readonly isMany: boolean | undefined }
  >();
  const keeping = <Calls extends object>(calls: Calls): Calls =>
    Object.fromEntries(
      Object.entries(calls).map(([name, call]) => [
        name,
        async (...asked: unknown[]): Promise<unknown> => {
          const key = `${name} ${JSON.stringify(asked)}`;
          if (!answers.has(key))
            answers.set(key, await (call as (...asked: unknown[]) => unknown)(...asked));
          return answers.get(key);
        },
      ]),
    ) as Calls;
  const core = coreOf(engine);
  const cached = new EngineFacade({
    ...core,
    view(options) {
      const view = core.view(options);
      const search: typeof view.search = async (request, ifMany) => {
        const key = JSON.stringify(request);
        let known = searches.get(key);
        if (!known) {
          let isMany: boolean | undefined;
          const onCounted = (many: boolean) => void (isMany = many);
          const answer = await view.search(request, ifMany && { ...ifMany, onCounted });
          searches.set(key, (known = { answer, isMany }));
        }
        if (known.isMany !== undefined) ifMany?.onCounted(known.isMany);
        return known.answer;
      };
      return { ...keeping(view), search };
    },
    repositories: keeping(core.repositories),
  });
  return toolContext(cached);
}

test.each([
  ["few matches", "hay"],
  ["more than fit into an answer", "needle"],
])("%s take one search", async (_, query) => {
  const { context, counts } = countingContext(shop());
  const { text } = await search.run(search.input.parse({ query }), context);
  expect(text).toContain("matches in");
  expect(counts.searches).toBe(1);
});

/** The most milliseconds of a tool's own work. It takes 0.6 on the core of SLOWNESS, and 1 on a slower one. */
const MOST_OWN = 1;

test("an answer that fills its budget takes little time in addition to the engine's", async () => {
  const context = cachedContext(shop());
  const args = search.input.parse({ query: "needle", maxTokens: 4_000 });
  const ask = () => search.run(args, context);
  for (let i = 0; i < 300; i++) await ask();
  let least = Infinity;
  // a shared machine may be slow for seconds, so this measures until it was fast enough once
  const most = MOST_OWN * SLOWNESS;
  for (let batch = 0; batch < 400 && (batch < 15 || least >= most); batch++) {
    const before = process.cpuUsage();
    for (let i = 0; i < 20; i++) await ask();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000 / 20);
  }
  tellFigure(`an answer of 4 000 tokens takes ${least.toFixed(2)} ms in addition to the engine's`);
  expect(least).toBeLessThan(most);
});
