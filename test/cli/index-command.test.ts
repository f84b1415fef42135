import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { CORPUS } from "../../scripts/build-corpus.ts";
import type { IndexReport } from "../../src/index.ts";
import { ask, db, folder, indexSome, repositories } from "./indexed.ts";
import { quern } from "./terminal.ts";

indexSome();

test("reports what it did, as text and as JSON", async () => {
  const own = ["--db", join(folder, "told")];
  const path = join(CORPUS, "duration");
  const words = await quern(["index", path, ...own]);
  expect(words).toMatchObject({ code: 0, stderr: "" });
  expect(words.stdout).toMatch(
    /^duration: \d+ files, \d+ added, 0 removed, .* read, [\d.]+ m?s\n$/,
  );
  const { stdout } = await quern(["index", path, ...own, "--json"]);
  const [report] = JSON.parse(stdout) as IndexReport[];
  expect(report).toMatchObject({ repository: "duration", added: 0, removed: 0 });
});

test("reports files without symbols", async () => {
  const path = join(folder, "large");
  mkdirSync(path);
  writeFileSync(join(path, "lock.json"), `{ "of": "${"x".repeat(2 ** 18)}" }`);
  const own = ["--db", join(folder, "without")];
  expect((await quern(["index", path, ...own])).stdout).toContain(", 1 without symbols, ");
});

test("skips the index itself and ignored files", async () => {
  const path = join(folder, "self");
  mkdirSync(path);
  for (const name of ["a.txt", "b.log"]) writeFileSync(join(path, name), "hay\n");
  const own = ["--db", join(path, ".quern")];
  for (const added of [1, 0]) {
    const { stdout } = await quern(["index", path, ...own, "--ignore", "*.log", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject([{ added, skipped: [] }]);
  }
});

test("one package of an excluded folder is a repository of its own", async () => {
  const path = join(folder, "project");
  for (const name of ["left", "right"])
    mkdirSync(join(path, "node_modules", name), { recursive: true });
  writeFileSync(join(path, ".gitignore"), "node_modules\n");
  writeFileSync(join(path, "a.js"), "needle\n");
  for (const name of ["left", "right"])
    writeFileSync(join(path, "node_modules", name, "index.js"), `needle of ${name}\n`);
  const own = ["--db", join(folder, "dependencies"), "--json"];
  await quern(["index", path, join(path, "node_modules", "left"), ...own]);
  const { stdout } = await quern(["search", "needle", ...own]);
  const { files } = JSON.parse(stdout) as { files: { repository: string }[] };
  expect(files.map(({ repository }) => repository).sort()).toEqual(["left", "project"]);
});

test("--no-ignore includes files that rules exclude", async () => {
  const path = join(folder, "ruled");
  mkdirSync(path);
  writeFileSync(join(path, ".gitignore"), "*.log\n");
  writeFileSync(join(path, "b.log"), "hay\n");
  const own = ["--db", join(folder, "ruled-index"), "--json"];
  expect(JSON.parse((await quern(["index", path, ...own])).stdout)).toMatchObject([{ added: 1 }]);
  const all = await quern(["index", path, ...own, "--no-ignore"]);
  expect(JSON.parse(all.stdout)).toMatchObject([{ added: 1, unchanged: 1 }]);
});

test("files whose names begin with a dot are indexed, with --hidden and without", async () => {
  const path = join(folder, "dotted");
  mkdirSync(join(path, ".config"), { recursive: true });
  for (const name of [".env", ".config/a.txt"]) writeFileSync(join(path, name), "hay\n");
  for (const flags of [[], ["--hidden"]]) {
    const own = ["--db", join(folder, `dotted-index${flags.length}`), "--json"];
    const { stdout } = await quern(["index", path, ...flags, ...own]);
    expect(JSON.parse(stdout)).toMatchObject([{ added: 2, skipped: [] }]);
  }
});

test("the time that it prints contains symbols", async () => {
  const clock = performance.now.bind(performance);
  let ahead = 0;
  vi.spyOn(performance, "now").mockImplementation(() => clock() + ahead);
  onTestFinished(() => void vi.restoreAllMocks());
  const onNote = (text: string) => {
    if (text.includes("searchable now")) ahead = 20_000; // moves the clock, as if symbols took this long
  };
  const own = ["--db", join(folder, "timed"), "--workers", "0"];
  const { stdout } = await quern(["index", join(CORPUS, "duration"), ...own], {
    isTTY: true,
    onNote,
  });
  expect(Number(/, ([\d.]+) s\n$/.exec(stdout)?.[1])).toBeGreaterThanOrEqual(20);
});

/** Runs `quern index --watch` and returns its reports, line by line. */
function watching(...argv: string[]) {
  const stop = new AbortController();
  const lines: string[] = [];
  let heard = () => {};
  const onOutput = (text: string) => {
    lines.push(...text.trimEnd().split("\n"));
    heard();
  };
  const ended = quern(["index", "--watch", ...argv], { signal: stop.signal, onOutput });
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  const line = async (at: number) => {
    while (lines.length <= at) await new Promise<void>((resolve) => (heard = resolve));
    return lines[at]!;
  };
  return { line, ended, stop: () => stop.abort() };
}

test("--watch indexes changes until it is stopped", async () => {
  const path = join(folder, "watched");
  mkdirSync(path);
  writeFileSync(join(path, "a.txt"), "hay\n");
  const own = ["--db", join(path, ".quern")];
  const { line, ended, stop } = watching(path, ...own);
  expect(await line(0)).toMatch(/^watched: 1 file, 1 added, 0 removed/);
  writeFileSync(join(path, "b.txt"), "needle\n");
  expect(await line(1)).toMatch(/^watched: 2 files, 1 added, 0 removed/);
  rmSync(join(path, "a.txt"));
  expect(await line(2)).toMatch(/^watched: 1 file, 0 added, 1 removed/);
  expect((await quern(["search", "needle", ...own])).code).toBe(0);
  stop();
  expect(await ended).toMatchObject({ code: 0, stderr: "quern: watching 1 source\n" });
});

test("--watch --json has the reports of a run on each line", async () => {
  const path = join(folder, "watched-json");
  mkdirSync(path);
  const { line } = watching(path, "--json", "--no-symbols", "--db", join(folder, "watched-db"));
  expect(JSON.parse(await line(0))).toMatchObject([{ repository: "watched-json", added: 0 }]);
  writeFileSync(join(path, "a.py"), "def needle(): pass\n");
  expect(JSON.parse(await line(1))).toMatchObject([{ added: 1, symbols: 0 }]);
});

test.each<[files: Record<string, string>, says: RegExp | undefined]>([
  [
    { ".gitignore": "# all\n*\n" },
    /^quern: 3 of 3 entries .*"\*" of .*\.gitignore, line 2; --no-ignore/m,
  ],
  [{ ".gitignore": "*.txt\n", ".ignore": "b*\n" }, /"\*\.txt" of .*\.gitignore, line 1/],
  [{ ".gitignore": "c.txt\n" }, undefined],
  [{}, undefined],
])("rules that exclude nearly everything are reported: %j", async (files, says) => {
  const path = mkdtempSync(join(folder, "excluded-"));
  for (const [name, text] of Object.entries({ "a.txt": "", "b.txt": "", "c.txt": "", ...files }))
    writeFileSync(join(path, name), text);
  const { code, stderr } = await quern(["index", path, "--db", `${path}-index`]);
  expect(code).toBe(0);
  if (says) expect(stderr).toMatch(says);
  else expect(stderr).toBe("");
});

test("shows its progress on a terminal, and clears it at the end", async () => {
  const path = join(CORPUS, "ledger");
  const { stderr } = await quern(["index", path, "--db", join(folder, "shown")], { isTTY: true });
  expect(stderr).toContain("\r\x1b[Kledger: ");
  const behind = stderr.slice(stderr.lastIndexOf("\r\x1b[K") + "\r\x1b[K".length);
  expect(behind).toMatch(/^(?:quern: searchable now; symbols of \d+ files? follow\n)?$/);
});

test.each<[string[], string]>([
  [[join(folder, "nowhere")], "SOURCE_NOT_FOUND"],
  [[join(repositories, "pebble"), "--rev", "nope"], "REVISION_NOT_FOUND"],
  [[CORPUS, "--workers", "1000"], "INVALID_REQUEST"],
])("index %j fails with %s", async (argv, code) => {
  const ran = await ask("index", ...argv);
  expect(ran).toMatchObject({ code: 2, stdout: "" });
  expect(ran.stderr).toMatch(new RegExp(`^quern: ${code}: [^\\n]+\\n`));
  const said = ran.stderr.trim().split(/[;\n] */);
  expect(new Set(said).size, "advice is given once").toBe(said.length);
  expect(ran.stderr).not.toMatch(/\n\s+at /);
});

test("stops when it is aborted", async () => {
  const ran = await quern(["index", CORPUS, "--db", db], { signal: AbortSignal.abort() });
  expect(ran.code).toBe(130);
  expect(ran.stderr).toBe("quern: stopped; everything published before is unchanged\n");
  expect((await ask("search", "repo:corpus")).code).toBe(1);
});
