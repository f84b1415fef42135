/**
 * explain() says how a query was understood and planned, and what else to try. It reveals nothing that a viewer may not
 * see.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { setTimeout as sleep } from "node:timers/promises";
import type { Engine } from "../../src/engine.ts";
import { Searching, type SearchParts } from "../../src/search/caller/searching.ts";
import { explainWith } from "../../src/search/caller/explain.ts";
import { open } from "../../src/opened-engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { git } from "../../src/ingest/sources/git.ts";
import type { SearchOptions, SearchRequest } from "../../src/search/messages/request.ts";
import type { Explanation } from "../../src/search/messages/response.ts";
import { zeroStats, type SearchStats } from "../../src/search/messages/stats.ts";
import type { View } from "../../src/store/catalog/view.ts";
import { openEnvironment } from "../../src/store/lmdb/environment.ts";
import { PART, segmentKey } from "../../src/store/format/format.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";

type Asked = Partial<SearchRequest> & { query: string };

const explain = (engine: Engine, asked: Asked, options?: SearchOptions): Promise<Explanation> =>
  engine.explain({ matches: 1, ...asked }, options);

type Files = Record<string, string>;

const sourceOf = (name: string, files: Files) =>
  documents({
    name,
    files: Object.entries(files).map(([path, content]) => ({ path, content })),
  });

const engines: Engine[] = [];

/** Opens an engine that stays open until all tests have finished, because many tests use the same one. */
async function engineWith(...repositories: [name: string, files: Files][]): Promise<Engine> {
  const engine = await open(mkdtempSync(join(tmpdir(), "quern-explain-")), { workers: 0 });
  engines.push(engine);
  await engine.index(repositories.map(([name, files]) => sourceOf(name, files)));
  return engine;
}

let engine: Engine;
let skipping: Engine;
beforeAll(async () => {
  engine = await engineWith(["shop", SHOP]);
  skipping = await engineWith(
    ["shop", SHOP],
    ["binary", { "a.png": "\0PNG", "b.bin": "\0", "c.txt": "text" }],
  );
});
afterAll(async () => {
  for (const one of engines) {
    await one.close();
    rmSync(one.path, { recursive: true, force: true });
  }
});

const SHOP: Files = {
  "src/app.ts": "export function Needle() {\n  return foo(bar)\n}\n",
  "src/other.py": "eddies = 'thread'\n",
  "README.md": "Nothing of the kind.\n",
};

const regex = { isRegexEnabled: true };
const cased = { isCaseSensitivityEnabled: true };

test.each<[Asked, string]>([
  [{ query: "  a   b " }, "a b"],
  [{ query: "(a b) or c" }, "a b or c"],
  [{ query: "f:x r:y c:z" }, "file:x repo:y z"],
  [{ query: "--fail" }, '"--fail"'],
  [{ query: "lang:golang" }, "lang:golang"],
  [{ query: "-(-(a))" }, "a"],
  [{ query: "a\\(b", ...regex }, '"a\\\\(b"'],
])("%j is understood as %j", async ({ ...asked }, query) => {
  expect((await explain(engine, asked)).query).toBe(query);
});

describe("segments", () => {
  test("a literal lists its grams, rarest first, each with the pages that contain it", async () => {
    const { segments, stats } = await explain(engine, { query: "needle" });
    const grams = ["dle", "edl", "eed", "nee"].map((gram) => ({ gram, pages: 1 }));
    expect(segments).toEqual([
      {
        id: expect.any(Number) as number,
        outcome: "scanned",
        literals: [{ text: "needle", pages: 1, grams }],
        candidatePages: 1,
        candidateFiles: 1,
      },
    ]);
    expect(stats).toMatchObject({ totalMatchCount: 1, ngramLookups: 4, ngramMatches: 1 });
  });

  test("grams on many pages come last", async () => {
    const { segments } = await explain(engine, { query: "thread" });
    const [literal] = segments[0]!.literals;
    expect(literal!.grams.map(({ pages }) => pages)).toEqual([1, 1, 1, 1]);
    const frequent = await explain(engine, { query: "thing" }); // 'thi' and 'hin' are in README.md alone
    expect(frequent.segments[0]!.literals[0]!.grams.map(({ gram }) => gram).sort()).toEqual([
      "hin",
      "ing",
      "thi",
    ]);
  });

  test.each<[Asked, string[]]>([
    [{ query: "(alpha|beta)gamma", ...regex }, ["alphagamma", "betagamma"]],
    [{ query: "x+", ...regex }, []],
    [{ query: "alpha file:beta" }, ["alpha"]],
    [{ query: "alpha or beta" }, ["alpha", "beta"]],
  ])("%j plans the literals %j", async (asked, texts) => {
    const { segments } = await explain(engine, asked);
    expect(segments[0]!.literals.map(({ text }) => text).sort()).toEqual(texts);
  });

  test("a segment without a candidate is not scanned", async () => {
    const { segments } = await explain(engine, { query: "zebra" });
    expect(segments).toMatchObject([
      { outcome: "skipped-by-filter", candidatePages: 0, candidateFiles: 0 },
    ]);
  });
});

test("a damaged segment is reported as such, and the others are explained", async () => {
  const path = temporaryFolder();
  const before = await open(path, { workers: 0 });
  await before.index(sourceOf("broken", { "a.txt": "needle\n" }));
  await before.index(sourceOf("whole", { "a.txt": "needle here\n" }));
  await before.close();
  const environment = openEnvironment(path, { readOnly: false });
  await environment.write((writer) =>
    writer.put(segmentKey(1, PART.POSTINGS), Uint8Array.of(9, 9, 9, 9)),
  );
  await environment.close();
  const warnings: string[] = [];
  const after = await open(path, { workers: 0, onWarning: ({ code }) => warnings.push(code) });
  const { segments, stats } = await explain(after, { query: "needle" });
  await after.close();
  const outcomes = segments.map(({ id, outcome, candidateFiles }) => [id, outcome, candidateFiles]);
  expect(outcomes).toHaveLength(2);
  expect(outcomes).toContainEqual([1, "damaged", 0]);
  expect(outcomes).toContainEqual([2, "scanned", 1]);
  expect(stats).toMatchObject({ crashes: 1, shardsScanned: 1, totalMatchCount: 1 });
  expect(new Set(warnings)).toEqual(new Set(["INDEX_CORRUPT"]));
});

test("every segment with files in scope has one of four outcomes", async () => {
  const many = await engineWith(["shop", SHOP]);
  await many.index(sourceOf("words", { "a.txt": "zebra\n", "b.txt": "needle\n" }));
  await many.index(sourceOf("empty", { "a.txt": "" }));
  for (const query of ["needle", "zebra", "-(needle)", "file:a", "nothing of it", "lang:rust"]) {
    const { segments, stats } = await explain(many, { query });
    const { shardsScanned, shardsSkipped, shardsSkippedFilter, crashes } = stats;
    expect(segments.length, query).toBe(3);
    expect(shardsScanned + shardsSkipped + shardsSkippedFilter + crashes, query).toBe(3);
    const scanned = segments.filter(({ outcome }) => outcome === "scanned");
    expect(shardsScanned, query).toBe(scanned.length);
  }
});

const OUTCOMES: Record<Explanation["segments"][number]["outcome"], keyof SearchStats> = {
  scanned: "shardsScanned",
  "skipped-by-filter": "shardsSkippedFilter",
  "not-reached": "shardsSkipped",
  damaged: "crashes",
};

/** Returns the segments by outcome, and the counts of the search for comparison. */
function outcomesOf({ segments, stats }: Explanation) {
  const kinds = Object.entries(OUTCOMES);
  const told = kinds.map(([kind]) => segments.filter(({ outcome }) => outcome === kind).length);
  return { told, counted: kinds.map(([, counter]) => stats[counter]) };
}

test("if the time of a search runs out, the outcomes say what happened to each segment", async () => {
  const slow = await engineWith();
  const names = ["a", "b", "c", "d", "e", "f"];
  for (const name of names) {
    const filtered = name === "b" || name === "e";
    await slow.index(sourceOf(name, { [filtered ? "x.md" : "x.txt"]: "x".repeat(30_000) }));
  }
  const asked = { query: "x*y|x file:txt$", ...regex };
  const seen = new Set<string>();
  for (const timeoutMs of [0, 1, 5, 20, 80]) {
    const explanation = await explain(slow, asked, { timeoutMs });
    const { told, counted } = outcomesOf(explanation);
    expect(told).toEqual(counted);
    expect(explanation.segments).toHaveLength(names.length);
    for (const { outcome, candidateFiles } of explanation.segments) {
      seen.add(outcome);
      if (outcome === "scanned") expect(candidateFiles).toBe(1);
      if (outcome === "skipped-by-filter") expect(candidateFiles).toBe(0);
    }
  }
  expect(seen).toContain("not-reached");
});

test("counters and segments are of one state, even if something is indexed meanwhile", async () => {
  const busy = await engineWith(["first", SHOP]);
  let isDone = false;
  const index = async () => {
    for (let i = 0; i < 12; i++)
      await busy.index(sourceOf(`r${i}`, { "a.txt": i % 2 === 0 ? "needle\n" : "zebra\n" }));
    isDone = true;
  };
  const run = index();
  let last = 0;
  while (!isDone) {
    const explanation = await explain(busy, { query: "needle" });
    const { told, counted } = outcomesOf(explanation);
    expect(told).toEqual(counted);
    last = explanation.segments.length;
  }
  await run;
  expect(last).toBeGreaterThan(0);
});

test("content that is read again to show files is counted, by search and stream alike", async () => {
  const counted = await engine.search({ query: "needle", matches: 0 });
  const { stats } = await engine.search({ query: "needle", matches: 1 });
  const again = stats.contentBytesLoaded - counted.stats.contentBytesLoaded;
  expect(again).toBeGreaterThanOrEqual(SHOP["src/app.ts"]!.length); // and its symbols
  const told: number[] = [];
  for await (const event of engine.stream({ query: "needle", matches: 1 }))
    told.push((event.type === "chunk" ? event.stats : event.accumulatedStats).contentBytesLoaded);
  expect(told).toEqual([told[0], told[0]]);
  expect(told[0]).toBeGreaterThanOrEqual(2 * SHOP["src/app.ts"]!.length);
});

describe("suggestions", () => {
  const ROWS: [Explanation["suggestions"][number]["change"], Asked, Asked][] = [
    ["ignore-case", { query: "needle", ...cased }, { query: "needle" }],
    ["literal", { query: "foo(bar)", ...regex }, { query: "foo(bar)" }],
    ["regex", { query: "fo+\\(" }, { query: "fo+\\(", ...regex }],
    ["drop-filter", { query: "Needle file:nowhere" }, { query: "Needle" }],
    ["drop-filter", { query: "Needle -file:app" }, { query: "Needle" }],
    ["language", { query: "Needle lang:typescrpt" }, { query: "Needle lang:TypeScript" }],
  ];

  test.each(ROWS)("%s: %j becomes %j", async (change, asked, wanted) => {
    const { suggestions } = await explain(engine, asked);
    const [first] = suggestions;
    expect(first).toMatchObject({ change, request: wanted });
    for (const { request, totalMatchCount } of suggestions) {
      const { stats } = await engine.search(request);
      expect(stats.totalMatchCount, request.query).toBe(totalMatchCount);
      expect(totalMatchCount).toBeGreaterThan(0);
    }
  });

  test("suggests all-revisions if only another branch matches", async () => {
    const engine = await openEngine();
    await engine.index(git(twoBranches(), { name: "shop", revisions: ["main", "old"] }));
    const { suggestions } = await explain(engine, { query: "forgotten" });
    expect(suggestions).toMatchObject([
      { change: "all-revisions", request: { query: "forgotten rev:*" }, totalMatchCount: 1 },
    ]);
    expect((await explain(engine, { query: "forgotten rev:main" })).suggestions).toMatchObject([
      { change: "all-revisions", request: { query: "forgotten rev:*" } },
    ]);
  });

  test("suggests nothing if something was found, or if nothing would help", async () => {
    expect((await explain(engine, { query: "needle" })).suggestions).toEqual([]);
    expect((await explain(engine, { query: "zebra", ...cased })).suggestions).toEqual([]);
  });
});

describe("hints", () => {
  test.each<[query: string, says: string, instead: string | undefined]>([
    ["needle path:src", "path: is a word here; did you mean file:", "needle file:src"],
    ["needle OR zebra", "OR is a word here", "needle or zebra"],
    ["needle case:yes", "an option: -s, isCaseSensitivityEnabled", undefined],
  ])("%s: %s", async (query, says, instead) => {
    const { hints } = await explain(engine, { query });
    expect(hints).toMatchObject([{ message: expect.stringContaining(says) as string }]);
    expect(hints[0]!.query).toBe(instead);
  });

  test("has hints for a query so long that a thread reads it", async () => {
    const long = "needle ".repeat(60);
    const { hints } = await explain(engine, { query: `${long}path:src` });
    expect(hints).toMatchObject([{ word: "path:src", query: `${long}file:src` }]);
  });

  test("has no hints for words of this language", async () => {
    expect((await explain(engine, { query: "needle or file:src" })).hints).toEqual([]);
  });
});

/** Makes a repository in which a file has different texts on the branches `main` and `old`. */
function twoBranches(): string {
  const path = temporaryFolder();
  const run = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], {
      cwd: path,
      stdio: "ignore",
    });
  const commit = (content: string) => {
    writeFileSync(join(path, "a.txt"), content);
    run("add", "a.txt");
    run("commit", "-m", "text");
  };
  run("init", "-b", "old");
  commit("forgotten\n");
  run("checkout", "-b", "main");
  commit("remembered\n");
  return path;
}

test("all searches of an explanation together have its time-out", async () => {
  // these searches use neither threads nor the catalog
  const unused = { pool: undefined, contexts: undefined, indexing: () => new Set<string>() };
  const searching = new Searching(unused as unknown as SearchParts);
  const asked = {
    request: { query: "Zebra lang:goo file:nowhere", matches: 1, isCaseSensitivityEnabled: true },
    options: { timeoutMs: 400 },
    view: async () => ({ catalog: {} }) as View,
  };
  const startedAt = performance.now();
  const given: number[] = [];
  await explainWith(searching, await searching.understand(asked), {
    plan: async () => {
      await sleep(200);
      return { query: "", segments: [], stats: zeroStats() };
    },
    count: async (_, { timeoutMs }) => {
      given.push(timeoutMs! + performance.now() - startedAt);
      await sleep(150);
      return 0;
    },
  });
  expect(given.length).toBeGreaterThan(0);
  expect(given.length).toBeLessThanOrEqual(2); // of more possible changes
  for (const due of given) expect(due).toBeLessThan(401);
});

describe("what is not indexed", () => {
  test.each<[string, Explanation["notIndexed"]]>([
    ["repo:^nowhere$ x", [{ repository: "nowhere", reason: "unknown" }]],
    ["repo:no\\.where x", [{ repository: "no.where", reason: "unknown" }]],
    ["repo:no.+where x", []],
    ["reposet:shop,nowhere x", [{ repository: "nowhere", reason: "unknown" }]],
    ["reposet:binary x", [{ repository: "binary", reason: "files-skipped", files: 2 }]],
    ["repo:bin file:png x", [{ repository: "binary", reason: "files-skipped", files: 1 }]],
    ["repo:bin file:txt x", []],
    ["repo:shop x", []],
    ["repo:nowhere or x", [{ repository: "nowhere", reason: "unknown" }]],
    ["(repo:nowhere or repo:shop) x", [{ repository: "nowhere", reason: "unknown" }]],
    ["(x (reposet:nowhere or y)) or z", [{ repository: "nowhere", reason: "unknown" }]],
    ["repo:binary or x", [{ repository: "binary", reason: "files-skipped", files: 2 }]],
    ["-(-(repo:nowhere or x))", [{ repository: "nowhere", reason: "unknown" }]],
    ["-repo:nowhere x", []],
    ["-(repo:nowhere or x)", []],
    ["x", []],
  ])("%s", async (query, wanted) => {
    expect((await explain(skipping, { query })).notIndexed).toEqual(wanted);
  });

  test("tells of a context only the repositories that the viewer may see", async () => {
    const asked: unknown[] = [];
    const names = ["shop", "binary", "hidden", "hidden/gone"];
    const told = await openEngine({
      contexts(name, viewer) {
        asked.push([name, viewer]);
        return names;
      },
    });
    const [shop, binary] = await told.index(
      ["shop", "binary", "hidden"].map((name) => sourceOf(name, { "a.bin": "\0" })),
    );
    const viewer = { repositoryIds: new Set([shop!.repositoryId, binary!.repositoryId]) };
    const of = async (query: string, options?: SearchOptions) =>
      (await explain(told, { query }, options)).notIndexed;
    const skipped = (repository: string) => ({ repository, reason: "files-skipped", files: 1 });
    expect(await of("context:hidden x", { viewer })).toEqual(["binary", "shop"].map(skipped));
    for (const one of asked) expect(one).toEqual(["hidden", viewer]);
    expect(asked).not.toEqual([]);
    expect(await of("context:all x")).toEqual(["binary", "hidden", "shop"].map(skipped));
    expect(await of("context:all reposet:hidden x", { viewer })).toContainEqual({
      repository: "hidden",
      reason: "unknown",
    });
  });

  test("says that a first index run is still going on, and stops saying so when it ends", async () => {
    let finish: (text: string) => void = () => {};
    const content = new Promise<string>((resolve) => (finish = resolve));
    const fresh = await engineWith(["shop", SHOP]);
    let run: Promise<unknown> | undefined;
    await new Promise<void>((begun) => {
      const read = () => {
        begun();
        return content;
      };
      const files = [{ path: "a.txt", content: read }];
      run = fresh.index(documents({ name: "late", files }));
    });
    const named = async (options?: SearchOptions) =>
      (await explain(fresh, { query: "repo:late text" }, options)).notIndexed;
    expect(await named()).toEqual([{ repository: "late", reason: "indexing" }]);
    const viewer = { repositoryIds: new Set([1]) };
    expect(await named({ viewer })).toEqual([{ repository: "late", reason: "unknown" }]);
    finish("text");
    await run;
    expect(await named()).toEqual([]);
  });
});

describe("a viewer", () => {
  const QUERIES: Asked[] = [
    { query: "needle" },
    { query: "needle", ...cased },
    { query: "repo:secret needle" },
    { query: "repo:sec.et needle" },
    { query: "reposet:secret,shop needle" },
    { query: "zebra" },
    { query: "zebra lang:rst" },
    { query: "zebr[ab]", ...regex },
    { query: "file:secret" },
    { query: "lang:rust" },
    { query: "rev:*" },
  ];

  let one: Engine;
  let other: Engine;
  beforeAll(async () => {
    one = await engineWith(["shop", SHOP], ["secret", { "src/secret.rs": "needle zebra NEEDLE" }]);
    other = await engineWith(["shop", SHOP], ["public", { "src/public.py": "none of it, look!" }]);
  });

  /** Resolves to the explanation for a viewer of `shop` alone, without times. */
  async function told(by: Engine, asked: Asked): Promise<unknown> {
    const shop = (await by.repositories()).find(({ name }) => name === "shop")!;
    const viewer = { repositoryIds: new Set([shop.id]) };
    const { stats, ...rest } = await explain(by, asked, { viewer });
    const times = { duration: 0, wait: 0, matchTreeConstruction: 0, matchTreeSearch: 0 };
    return { ...rest, stats: { ...stats, ...times } };
  }

  test.each(QUERIES)("%j: hidden repositories do not affect the answer", async (asked) => {
    expect(await told(one, asked)).toEqual(await told(other, asked));
  });
});
