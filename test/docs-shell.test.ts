/**
 * Tests the shell commands on the pages. Lines of quern and curl run in a home with a repository, a folder and an index.
 * Scripts and programs in lines of npm and npx must exist. A line of any other kind fails, so no line remains unchecked.
 */

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { open } from "../src/index.ts";
import { createApiKey, createHandler, memoryTokenStore } from "../src/http/index.ts";
import { quern } from "./cli/terminal.ts";
import { PAGES } from "./pages.ts";

const home = mkdtempSync(join(tmpdir(), "quern-shell-"));
const db = join(home, "index");

/** Splits a line into words as a shell does, with quotes, comments, the home folder, and a star at the end. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [word] of text.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)) {
    if (word.startsWith("#")) break;
    const isBare = !/^['"]/.test(word);
    const plain = word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2");
    const path = plain.replace(/^~\//, `${home}/`).replace(/^\/srv\//, `${home}/srv/`);
    if (isBare && path.endsWith("/*")) words.push(...below(dirname(path)));
    else words.push(isBare ? path : plain);
  }
  return words;
}

const below = (folder: string): string[] => readdirSync(folder).map((name) => join(folder, name));

const blocks = PAGES.flatMap((page) =>
  [...readFileSync(page, "utf8").matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => ({
    page,
    text: text!,
  })),
);

/** Returns a command without the variable that takes its output, and without a `&` at the end. */
const bare = (line: string): string =>
  line
    .replace(/^\w+=\$\((.*)\)/, "$1")
    .replace(/ +& *(?=#|$)/, " ")
    .trim();

const lines: readonly { page: string; text: string }[] = blocks.flatMap(({ page, text }) =>
  text
    .trimEnd()
    .split("\n")
    .flatMap((line) => line.split("&&"))
    .map((line) => ({ page, text: bare(line) })),
);

const of = (program: string) => lines.filter(({ text }) => text.startsWith(`${program} `));

function makeRepository(path: string): void {
  mkdirSync(path, { recursive: true });
  writeFileSync(
    join(path, "retry.go"),
    "func RetryBackoff(n int) {} // todo: retry after a timeout\nfunc parseNumber() {}\n",
  );
  writeFileSync(join(path, "parse.py"), "def parse(): pass\n");
  const git = (...args: string[]) => execFileSync("git", ["-C", path, ...args]);
  git("init", "--quiet", "--initial-branch=main");
  git("add", ".");
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  git(...who, "commit", "--quiet", "-m", "All of it");
  git("tag", "v2.0");
}

beforeAll(async () => {
  for (const name of ["projects/shop", "projects/ledger", "srv/repositories/mill"])
    makeRepository(join(home, name));
  mkdirSync(join(home, "notes"));
  writeFileSync(join(home, "notes/today.md"), "a needle\n");
  const urls = [`file://${join(home, "projects/ledger")}`];
  const connections = { tools: { type: "git", urls } };
  writeFileSync(join(home, "quern.json"), JSON.stringify({ connections }));
  const made = await quern(["index", join(home, "projects/shop"), "--db", db]);
  expect(made).toMatchObject({ code: 0, stderr: "" });
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

test("every line is of a known kind", () => {
  const known = ["quern", "curl", "npm", "npx"].flatMap(of);
  expect(lines.filter((line) => !known.includes(line))).toEqual([]);
  for (const program of ["quern", "curl", "npm", "npx"])
    expect(of(program), program).not.toEqual([]);
});

/** Adds the test's options to a page's command: after its name, and before a `--`. */
function withOurs([name, ...rest]: readonly string[]): string[] {
  const words = name === "keys" ? [name, rest.shift()!] : [name!];
  const at = rest.includes("--") ? rest.indexOf("--") : rest.length;
  const port = name === "serve" ? ["--port", "0"] : []; // the last value counts
  const own = name === "install" ? [] : ["--db", db];
  return [...words, ...rest.slice(0, at), ...own, ...port, ...rest.slice(at)];
}

/** The current page. Each page begins without members. Once there is a member, only keys of members are valid. */
let begun = "";
function beginPage(page: string): void {
  if (page !== begun) rmSync(join(db, ".keys"), { recursive: true, force: true });
  begun = page;
}

test.each(of("quern"))("$page: $text", async ({ page, text }) => {
  beginPage(page);
  const stop = new AbortController(); // a command that never ends is stopped when it has printed something
  const isEndless = /^quern serve| --(watch|every)\b/.test(text);
  const env = { HOME: home }; // quern install writes there
  const world = { env, signal: stop.signal, onOutput: () => isEndless && stop.abort() };
  const ran = await quern(withOurs(wordsOf(text).slice(1)), world);
  expect(ran.code).toBe(0);
  expect(ran.stderr).toMatch(
    /^(quern: ([\d,]+ match(es)? in .*|watching \d sources?|tools: 1 repository.*)\n)?$/,
  );
  expect(ran.stdout).not.toBe("");
});

test.each(of("curl"))("$page: $text", async ({ text }) => {
  const engine = await open(db, { readOnly: true });
  try {
    const tokens = memoryTokenStore();
    const { secret } = await createApiKey(tokens, { ownerId: "local", name: "laptop" });
    const handler = createHandler(engine, { tokens });
    const response = await handler(requestOf(wordsOf(text.replace("$SECRET", secret))));
    expect(await response.json()).toMatchObject({ isSearchExhaustive: true });
  } finally {
    await engine.close();
  }
});

/** Parses a line of curl. It knows the options that the pages use. */
function requestOf([, ...words]: readonly string[]): Request {
  const headers = new Headers();
  let url: string | undefined;
  let body: string | undefined;
  while (words.length > 0) {
    const word = words.shift()!;
    if (word === "-H") headers.append(...(words.shift()!.split(": ") as [string, string]));
    else if (word === "-d") body = words.shift()!;
    else if (word !== "-s") url = `http://${word}`;
  }
  return new Request(url!, { headers, ...(body !== undefined && { method: "POST", body }) });
}

/** Commands within a text, each in one pair of backticks. */
const inline = PAGES.flatMap((page) =>
  [
    ...readFileSync(page, "utf8")
      .replace(/^```.*?^```$/gms, "")
      .matchAll(/`([^`]+)`/g),
  ].map(([, text]) => ({ page, text: text!.replace(/^[A-Z_]+=\S+ /, "") })),
);
const named = (program: string) => inline.filter(({ text }) => text.startsWith(`${program} `));

const { name, version, bin, scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
  name: string;
  version: string;
  bin: Record<string, string>;
  scripts: Record<string, string>;
};

/** Expects that a program of the project declares each of the options. */
function expectOptions(file: string, words: readonly string[]): void {
  expect(existsSync(file), file).toBe(true);
  const declared = readFileSync(file, "utf8");
  for (const word of words)
    if (word.startsWith("--") && word !== "--")
      expect(declared, word).toMatch(new RegExp(`(\\W|")${word.slice(2)}"?: \\{ type: `));
}

test.each([...of("npm"), ...named("npm")])("$page: $text", ({ text }) => {
  const [, verb, ...rest] = wordsOf(text.replace(/[[\]]/g, ""));
  if (verb === "ci") expect(existsSync("package-lock.json")).toBe(true);
  else if (verb === "install")
    expect([[], [name], [`/path/to/${name}-${version}.tgz`]]).toContainEqual(
      rest.filter((word) => word !== "-g"),
    );
  else if (verb !== "pack" && verb !== "publish") {
    const script = verb === "run" ? rest.shift()! : verb!;
    expect(Object.keys(scripts), script).toContain(script);
    const file = /tsx (\S+)$/.exec(scripts[script]!)?.[1];
    if (file !== undefined) expectOptions(file, rest);
    else expect(rest.filter((word) => word.startsWith("--") && word !== "--")).toEqual([]);
  }
});

test.each([...of("npx"), ...named("npx")])("$page: $text", ({ text }) => {
  const [, program, ...rest] = wordsOf(text.replace(/[[\]]/g, ""));
  const isThere = program! in bin || existsSync(join("node_modules/.bin", program!));
  expect(isThere, program).toBe(true);
  if (program !== "tsx") return;
  const at = rest.findIndex((word) => word.endsWith(".ts"));
  expectOptions(rest[at]!, rest.slice(at + 1));
});

test.each(named("quern"))("$page: $text", async ({ text }) => {
  const [, command, ...rest] = wordsOf(text);
  if (command === "COMMAND") return;
  const { stdout } = await quern([command!, "--help"]);
  expect(stdout).toMatch(new RegExp(`^Usage: quern ${command} `));
  for (const word of rest) if (word.startsWith("--")) expect(stdout).toContain(word);
});

test("every option that docs/command.md names is an option of the command", async () => {
  const commands = inline.flatMap(({ text }) => /^quern ([a-z]+)/.exec(text)?.[1] ?? []);
  const keys = ["create", "list", "revoke"].map((name) => ["keys", name]);
  const calls = [...new Set(commands)].map((name) => [name]).concat(keys);
  const helps = await Promise.all(calls.map((words) => quern([...words, "--help"])));
  const known = new Set(helps.flatMap(({ stdout }) => stdout.match(/--[a-z-]+/g) ?? []));
  const said = inline.filter(({ page }) => page === "docs/command.md");
  const options = said.flatMap(({ text }) => /^--[a-z-]+/.exec(text)?.[0] ?? []);
  expect(options.length).toBeGreaterThan(8);
  expect(options.filter((option) => !known.has(option))).toEqual([]);
});
