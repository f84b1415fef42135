/** Tests the Dockerfile by reading it as a builder would. No image is built, and no container is started. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { NODES } from "../scripts/nodes.ts";
import { quern } from "./cli/terminal.ts";
import { temporaryFolder } from "./engine/opened.ts";

interface Instruction {
  readonly name: string;
  readonly words: string;
}

const instructions: Instruction[] = readFileSync("Dockerfile", "utf8")
  .replace(/^#.*\n/gm, "")
  .replace(/\\\n\s*/g, "")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => /^([A-Z]+) (.*)$/.exec(line) ?? expect.fail(`no instruction: ${line}`))
  .map(([, name, words]) => ({ name: name!, words: words! }));

/** The stages by name, each with its instructions. */
const stages = new Map<string, { image: string; all: Instruction[] }>();
for (const instruction of instructions) {
  const [, image, stage] = /^(\S+) AS (\w+)$/.exec(instruction.words) ?? [];
  if (instruction.name === "FROM") stages.set(stage!, { image: image!, all: [] });
  else [...stages.values()].at(-1)!.all.push(instruction);
}
const [name, last] = [...stages].at(-1)!;
const of = (instruction: string): string[] =>
  last.all.filter((one) => one.name === instruction).map(({ words }) => words);
const listOf = (instruction: string): string[] => JSON.parse(of(instruction)[0]!) as string[];

test("there are three stages, based on the newest tested version of Node", () => {
  expect([...stages.keys()]).toEqual(["build", "dependencies", "server"]);
  for (const { image } of stages.values()) expect(image).toBe(`node:${NODES.at(-1)}-bookworm-slim`); // a version, never a tag that moves
});

test("every copied file exists and is not ignored", () => {
  const kept = readFileSync(".dockerignore", "utf8").split("\n");
  expect(kept).toContain("*");
  const copied = [...stages.values()]
    .flatMap(({ all }) => all)
    .filter((one) => one.name === "COPY" && !one.words.startsWith("--from="))
    .flatMap(({ words }) => words.split(" ").slice(0, -1));
  expect(copied.length).toBeGreaterThan(5);
  for (const path of copied) {
    expect(existsSync(path), path).toBe(true);
    expect(kept, path).toContain(`!${path}`);
  }
});

test("files are copied only from an earlier stage that creates them", () => {
  const from = of("COPY").flatMap((words) => /^--from=(\w+) (\S+)/.exec(words)?.slice(1) ?? []);
  expect(from).toEqual(["dependencies", "/quern/node_modules", "build", "/quern/dist"]);
  const does = (stage: string) => stages.get(stage)!.all.map(({ words }) => words);
  expect(does("dependencies")).toContain("npm ci --omit=dev --no-audit --no-fund");
  expect(does("build")).toContain("npm run build");
});

test("the build contains every file that it reads", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
    scripts: { build: string };
  };
  for (const [file] of scripts.build.matchAll(/scripts\/\S+/g)) expect(existsSync(file)).toBe(true);
  // a script that reads a folder that is not copied would fail only in the build
  const read = ["build-kernel.mjs", "build-package.mjs", "build-page.mjs", "build-token-table.mjs"]
    .map((script) => readFileSync(join("scripts", script), "utf8"))
    .join();
  for (const folder of ["corpus", "docs", "bench", "test", "examples", "fuzz"])
    expect(read, folder).not.toMatch(new RegExp(`["'\`](?:\\.\\./)?${folder}/`));
});

test("the container does not run as root, and may write to its volume", () => {
  expect(of("USER")).toEqual(["node"]);
  expect(of("VOLUME")).toEqual(["/data"]);
  expect(of("RUN").join()).toContain("chown node:node /data");
  const order = last.all.map((one) => one.name);
  expect(order.lastIndexOf("RUN")).toBeLessThan(order.indexOf("USER"));
  expect(of("ENV").join(" ")).toContain("QUERN_DB=/data");
});

test("the container has git, which repositories need", () => {
  expect(of("RUN").join()).toMatch(/apt-get install .*\bgit\b/);
});

test("the container starts an existing command, on the exposed port", async () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { bin: { quern: string } };
  expect(name).toBe("server");
  expect(listOf("ENTRYPOINT")).toEqual(["node", join("/quern", manifest.bin.quern)]);
  const argv = listOf("CMD");
  expect(argv[argv.indexOf("--port") + 1]).toBe(of("EXPOSE")[0]);
  expect(of("HEALTHCHECK")[0]).toContain(`:${of("EXPOSE")[0]}/api/health`);
  // the command as written, except for the port
  const stop = new AbortController();
  const db = temporaryFolder();
  await quern(["index", "docs", "--db", db, "--no-symbols"]);
  let told = "";
  const onOutput = (text: string) => void (told += text);
  const moved = argv.map((word) => (word === of("EXPOSE")[0] ? "0" : word));
  const ended = quern(moved, { env: { QUERN_DB: db }, signal: stop.signal, onOutput });
  onTestFinished(() => stop.abort());
  await expect.poll(() => told).toMatch(/quern answers at http:\/\/0\.0\.0\.0:\d+\/api\/search/);
  stop.abort();
  expect(await ended).toMatchObject({ code: 0 });
});
