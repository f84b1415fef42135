/**
 * Tests the code on the pages. Every block runs in a project with the files and packages that it mentions. Whether blocks
 * compile is tested by package/public-surface.long.test.ts.
 */

import { execFile, execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { documents, open } from "../src/index.ts";
import { blocks } from "./blocks.ts";
import { bundledPrograms } from "./programs.ts";
import { someOf } from "./runs.ts";
import { SHORT_LIVED } from "./short-lived.ts";

const folder = mkdtempSync(join(tmpdir(), "quern-docs-"));
const index = join(folder, "index");

beforeAll(async () => {
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  const engine = await open(index);
  const files = [
    { path: "a.ts", content: "needle\n" },
    { path: "src/cart.ts", content: `${"\n".repeat(11)}function addToCart() {}\n` }, // line 12 of docs/navigation.md
  ];
  await engine.index(documents({ name: "shop", files }));
  await engine.close();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the pages contain blocks of code", () => {
  expect(blocks.length).toBeGreaterThan(8);
});

/** A folder with an index, a folder of sources and three repositories. Each block has a copy. */
const model = join(folder, "model");
beforeAll(() => {
  for (const made of [".quern", "src", "repositories"])
    mkdirSync(join(model, made), { recursive: true });
  copyFileSync(join(index, "quern.mdb"), join(model, ".quern/quern.mdb"));
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  for (const path of ["shop", "repositories/shop", "repositories/ledger"]) {
    const repository = join(model, path);
    execFileSync("git", ["init", "--quiet", repository]);
    const commit = ["commit", "--quiet", "--allow-empty", "-m", "Nothing yet"];
    execFileSync("git", ["-C", repository, ...who, ...commit]);
  }
  const connections = { own: { type: "folder", path: "repositories" } };
  writeFileSync(join(model, "quern.json"), JSON.stringify({ connections }));
});

function project(name: string): string {
  const path = join(folder, name.replace(/\W/g, "-"));
  cpSync(model, path, { recursive: true });
  return path;
}

/** Reports where the block's server listens, as soon as it does. */
const LISTENING = `import { Server } from "node:net";
const { listen } = Server.prototype;
globalThis.listening = new Promise((resolve) => {
  Server.prototype.listen = function (...args) {
    this.once("listening", () => resolve(this.address().port));
    return listen.apply(this, args);
  };
});
`;

/** Sends a request to the server as the page's reader would, with the key that the page makes, if any. */
const ASK = `{
  const port = await globalThis.listening;
  const headers = typeof secret === "string" ? { authorization: "Bearer " + secret } : {};
  const body = JSON.stringify({ query: "needle", matches: 0 });
  const request = { method: "POST", headers, body };
  const response = await fetch("http://localhost:" + port + "/api/search", request);
  console.log("files found:", (await response.json()).stats?.fileCount);
  process.exit();
}
`;

const isServer = (text: string): boolean => text.includes("listen(");

/**
 * Makes a program from a block. Servers listen on any port and end after they have answered. Everything else ends after
 * a while.
 */
const asProgram = (text: string): string => {
  const moved = text.replaceAll("3000", "0").replaceAll("/srv/", "./");
  return isServer(text)
    ? `import "./listening.mjs";\n${moved}${ASK}export {};\n`
    : `${moved}setTimeout(() => process.exit(), 1500).unref();\nexport {};\n`;
};

/** The program of each block, in its order. */
let programs: string[];
beforeAll(async () => {
  const files = blocks.map(({ text }, n) => {
    const file = join(folder, `block-${n}.mts`);
    writeFileSync(file, asProgram(text));
    return file;
  });
  writeFileSync(join(folder, "listening.mjs"), LISTENING);
  programs = await bundledPrograms(files);
});

test.concurrent.each(someOf(blocks, 3))("$name runs", async (block) => {
  const { name, text } = block;
  const args = [...SHORT_LIVED, programs[blocks.indexOf(block)]!];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: project(name) });
  if (isServer(text)) expect(stdout).toMatch(/^files found: 1$/m);
});

test("some blocks are servers", () => {
  expect(blocks.filter(({ text }) => isServer(text)).length).toBeGreaterThan(1);
});
