/** The list of repositories, and similar names. However many there are, no call reads all of them. */

import { expect, test } from "vitest";
import { coreOf } from "../../src/core-of.ts";
import { EngineFacade } from "../../src/engine-facade.ts";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { openEngine, sharedEngine } from "../engine/opened.ts";
import { callTool, connected, type ToolAnswer } from "./connected.ts";

const MANY = 1_200;
const NAMES = Array.from({ length: MANY }, (_, i) => `team${i % 3}/service-${i}`).sort();

async function fill(engine: Engine): Promise<void> {
  const files = [{ path: "a.ts", content: "needle" }];
  await engine.index(
    NAMES.map((name) => documents({ name, files })),
    { symbols: "skip" },
  );
}

/** Has all repositories. No test changes it. */
const many = sharedEngine(fill);

/** Returns an engine that fails if all repositories are requested. */
function bounded(engine: Engine): Engine {
  const core = coreOf(engine);
  const { repositories } = core;
  const describeAll: typeof repositories.describeAll = (page) => {
    expect(page.limit).toBeLessThanOrEqual(2_000);
    return repositories.describeAll(page);
  };
  return new EngineFacade({ ...core, repositories: { ...repositories, describeAll } });
}

const namesIn = ({ text }: ToolAnswer): string[] =>
  text.split("\n").flatMap((line) => /^(\S+)@\S*: /.exec(line)?.[1] ?? []);

test("the pages of the list are all repositories, each once, even if some are removed meanwhile", async () => {
  const engine = await openEngine();
  await fill(engine);
  const client = await connected(createMcpHandler(bounded(engine)));
  const listed = async (query: string, maxTokens: number, between = async () => {}) => {
    let answer = await callTool(client, "repositories", { query, maxTokens });
    const names = namesIn(answer);
    while (answer.facts.cursor !== undefined) {
      await between();
      answer = await callTool(client, "repositories", { cursor: answer.facts.cursor, maxTokens });
      names.push(...namesIn(answer));
    }
    expect(answer.facts.complete).toBe(true);
    return names;
  };
  const first = await callTool(client, "repositories", {});
  expect(first.text).toMatch(/^# 1 200 of 1 200 repositories\./);
  expect(await listed("", 9_000)).toEqual(NAMES);
  const inTeam = NAMES.filter((name) => name.includes("team1"));
  expect(await listed("TEAM1", 9_000)).toEqual(inTeam);
  const both = NAMES.filter((name) => name.includes("team2") && name.includes("99"));
  expect((await callTool(client, "repositories", { query: "99 team2" })).facts.files).toBe(
    both.length,
  );
  expect(await listed("99 team2", 200)).toEqual(both);
  const gone = [...inTeam];
  const left = await listed("team1", 9_000, async () => {
    await engine.remove(gone.pop()!);
    await engine.remove(gone.shift()!);
  });
  expect(left).toEqual(inTeam.filter((name) => left.includes(name)));
  expect(left).toEqual(expect.arrayContaining(gone));
});

test.each<[string, RegExp]>([
  ["service-707", /^# team2\/service-707:\/, 1 entry/],
  ["team2/servise-707", /Near names: .*team2\/service-707/],
  [
    "zzzzzzzz",
    /there is no repository "zzzzzzzz" here\. [\d ]+ repositories are indexed, such as \S+, \S+, \S+\.$/,
  ],
])("among many repositories, %s is found or suggested", async (repository, words) => {
  const client = await connected(createMcpHandler(bounded(many())));
  const { text } = await callTool(client, "tree", { repository });
  expect(text).toMatch(words);
});

test("if several repositories are indexed, one must be named", async () => {
  const client = await connected(createMcpHandler(bounded(many())));
  const { text, isError } = await callTool(client, "tree", {});
  expect(isError).toBe(true);
  expect(text).toBe(
    `name a repository: 1 200 repositories are indexed here, such as ${NAMES.slice(0, 3).join(", ")}`,
  );
});

test("names are completed in order", async () => {
  const client = await connected(createMcpHandler(bounded(many())));
  const { completion } = await client.complete({
    ref: { type: "ref/resource", uri: "quern://{repository}@{revision}/{+path}" },
    argument: { name: "repository", value: "team1/service-10" },
  });
  expect(completion.values).toEqual(
    NAMES.filter((name) => name.startsWith("team1/service-10")).slice(0, 50),
  );
});
