/** Tests the tarball that hosts install, in projects of both module systems. */

import { execFile, execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { someOf } from "../runs.ts";
import { isFetched, isStrict, nodeBinary, NODES } from "../../scripts/nodes.ts";
import { VERSION } from "../../src/base/version.ts";
import { WASM_MODULES } from "../../src/base/wasm-modules.ts";
import { tellFigure } from "../figures.ts";
import { shortLived } from "../short-lived.ts";
import { FOUND, hostScript, type ModuleSystem } from "./host.ts";
import { manifest, packPackage, project, run, type Packed } from "./project.ts";

const README = readFileSync("README.md", "utf8");

let packed: Packed;
let esm: string;
let cjs: string;

beforeAll(() => {
  packed = packPackage();
  esm = project(packed, "module");
  cjs = project(packed, "commonjs");
});

afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

describe("the tarball", () => {
  test("contains only the build", () => {
    const others = packed.files.filter(
      (file) =>
        !/^dist\/([\w.-]+\.(c?js|d\.c?ts)|page\/(page\.json|[\w-]+\.\w+\.br)|wasm\/[\w-]+\.wasm\.br)$/.test(
          file,
        ),
    );
    expect(others.sort()).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "NOTICE",
      "README.md",
      "dist/quern.schema.json",
      "dist/token-table.br",
      "package.json",
    ]);
    for (const name of ["index", "http", "testing"])
      for (const suffix of ["js", "cjs", "d.ts", "d.cts"])
        expect(packed.files).toContain(`dist/${name}.${suffix}`);
    expect(packed.files).toContain("dist/worker.js");
  });

  test("is as large as the README says, within a tenth", () => {
    const said = Number(/It is ([\d.]+) MB packed/.exec(README)?.[1]);
    expect(Math.abs(packed.packedBytes / 1e6 / said - 1)).toBeLessThan(0.1);
  });

  test("has at most 400 KB of compressed files of the page", () => {
    const sizes = packed.files
      .filter((file) => file.startsWith("dist/page/"))
      .map((file) => statSync(join(esm, "node_modules/quern", file)).size);
    expect(sizes.length).toBeGreaterThan(10);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(400_000);
  });

  test("has at most 150 KB of files for the page's first view", () => {
    const folder = join(esm, "node_modules/quern/dist/page");
    const { document } = JSON.parse(readFileSync(join(folder, "page.json"), "utf8")) as {
      document: string;
    };
    const names = [...document.matchAll(/assets\/([\w.-]+)/g)].map(([, name]) => `${name}.br`);
    expect(names.length).toBe(3);
    const bytes = names.map((name) => statSync(join(folder, name)).size);
    expect(bytes.reduce((sum, size) => sum + size, document.length)).toBeLessThan(150_000);
  });

  test("runs no scripts when it is installed", () => {
    const { scripts } = JSON.parse(
      readFileSync(join(esm, "node_modules/quern/package.json"), "utf8"),
    ) as { scripts: Record<string, string> };
    for (const name of ["preinstall", "install", "postinstall", "prepare"])
      expect(scripts).not.toHaveProperty(name);
  });

  test("imports its dependencies, and no other packages", () => {
    const needed = new Set<string>();
    for (const file of packed.files.filter((name) => /^dist\/.*\.c?js$/.test(name))) {
      const text = readFileSync(join(esm, "node_modules/quern", file), "utf8");
      for (const [, , name] of text.matchAll(/(from|import|require\() ?"([^".\s][^"\s]*)"/g))
        if (!name!.startsWith("node:"))
          needed.add(name!.split("/", name!.startsWith("@") ? 2 : 1).join("/"));
    }
    const known = new Set(Object.keys(manifest.dependencies));
    expect([...needed].filter((name) => !known.has(name))).toEqual([]);
  });

  test("has the grammars themselves, and depends on an exact version of what runs them", () => {
    const { dependencies } = manifest;
    expect(Object.keys(dependencies).filter((name) => /wasm/.test(name))).toEqual([]);
    expect(dependencies["web-tree-sitter"]).toMatch(/^\d+\.\d+\.\d+$/);
    const modules = packed.files.filter((name) => name.startsWith("dist/wasm/"));
    expect(modules.length).toBe(Object.keys(WASM_MODULES).length);
  });

  test("takes at most 75 MB with its dependencies", () => {
    const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
      packages: Readonly<Record<string, { dev?: true; devOptional?: true; peer?: true }>>;
    };
    const installed = Object.entries(packages)
      .filter(([, { dev, devOptional, peer }]) => !dev && !devOptional && !peer)
      .map(([path]) => path)
      .filter((path) => path !== "" && existsSync(path));
    const own = join(esm, "node_modules/quern");
    const sizes = execFileSync("du", ["-skc", own, ...installed], { encoding: "utf8" });
    expect(Number.parseInt(sizes.trim().split("\n").at(-1)!, 10)).toBeLessThan(75 * 1024);
  });

  test("starts its threads so that no tracer includes the whole folder", () => {
    for (const file of packed.files.filter((name) => /^dist\/.*\.c?js$/.test(name)))
      expect(readFileSync(join(esm, "node_modules/quern", file), "utf8")).not.toMatch(
        /new Worker\(/,
      );
  });

  test("has the version of its manifest", () => expect(VERSION).toBe(manifest.version));
});

test("the README's example runs as printed", async () => {
  const path = project(packed, "module");
  const block = (kind: string) =>
    new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\`$`, "ms").exec(README)![1]!;
  mkdirSync(join(path, "shop/src"), { recursive: true });
  writeFileSync(join(path, "shop/src/cart.py"), block("python"));
  const example = block("js");
  expect(example.trim().split("\n").length).toBeLessThanOrEqual(15);
  const { stdout, stderr } = await run(path, "example.js", example);
  expect({ stdout, stderr }).toEqual({
    stdout: block("text"),
    stderr: "",
  });
});

const TYPED = `
import { open, type Engine, type SearchResponse } from "quern";
import { createHandler, type TokenStore } from "quern/http";
import { readSyncConfig, type SyncConfig } from "quern/sync";
import { tokenStoreSuite } from "quern/testing";
export const config: () => Promise<SyncConfig> = () => readSyncConfig("quern.json");
export async function search(engine: Engine): Promise<SearchResponse> {
  return engine.search({ query: "x", matches: 1 });
}
export const host = async (tokens: TokenStore) => createHandler(await open("x"), { tokens });
// @ts-expect-error
open(1);
void tokenStoreSuite;
`;

describe("a host", () => {
  test.each(someOf(["module", "commonjs"] as const, 2))("runs on this Node (%s)", async (type) => {
    const { file, text } = hostScript(type);
    const { stdout, stderr } = await run(type === "module" ? esm : cjs, file, text);
    expect({ ...(JSON.parse(stdout) as object), stderr }).toEqual({ ...FOUND, stderr: "" });
  });

  test("compiles with the types, in both module systems", async () => {
    for (const file of ["types.mts", "types.cts"]) writeFileSync(join(esm, file), TYPED);
    const tsc = resolve("node_modules/typescript/bin/tsc");
    const flags = "--noEmit --strict --module nodenext --target es2022 --types node";
    const args = [tsc, ...flags.split(" "), "types.mts", "types.cts"];
    await promisify(execFile)(process.execPath, args, { cwd: esm });
  });
});

describe("the command", () => {
  const quern = (...args: string[]) =>
    promisify(execFile)(process.execPath, [join(esm, "node_modules/quern/dist/cli.js"), ...args], {
      cwd: esm,
    });

  test("is an executable program", () => {
    const path = join(esm, "node_modules/quern/dist/cli.js");
    expect(readFileSync(path, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(statSync(path).mode & 0o111).toBe(0o111);
  });

  test("indexes, searches, and exits with the right codes", async () => {
    mkdirSync(join(esm, "text"));
    writeFileSync(join(esm, "text/found.txt"), "a needle in a haystack\n");
    expect((await quern("index", "text")).stdout).toMatch(/^text: 1 file, 1 added, /);
    const { stdout, stderr } = await quern("search", "needle in");
    expect({ stdout, stderr }).toEqual({
      stdout: "text:found.txt\n1:a needle in a haystack\n",
      stderr: expect.stringMatching(/^quern: 2 matches in 1 file, \d+ ms\n$/) as string,
    });
    expect((await quern("check")).stdout).toMatch(/^no damage: /);
    await expect(quern("search", "needles in")).rejects.toMatchObject({ code: 1, stdout: "" });
    await expect(quern("search", "a or or b")).rejects.toMatchObject({ code: 2, stdout: "" });
  });

  /** Resolves to milliseconds of processor time, the least of three runs. */
  async function processorTime(...args: string[]): Promise<number> {
    writeFileSync(
      join(esm, "tell.cjs"),
      `process.on("exit", () => {
        const { user, system } = process.cpuUsage();
        require("node:fs").writeSync(2, "\\n" + (user + system) / 1000);
      });`,
    );
    const times: number[] = [];
    for (let i = 0; i < 3; i++) {
      const command = ["-r", "./tell.cjs", ...args];
      const { stderr } = await promisify(execFile)(process.execPath, command, { cwd: esm });
      times.push(Number(stderr.split("\n").at(-1)));
    }
    return Math.min(...times);
  }

  test("starts quickly", async () => {
    const cli = "node_modules/quern/dist/cli.js";
    const bare = await processorTime("-e", "0");
    const version = await processorTime(cli, "--version");
    const search = await processorTime(cli, "search", "needle in");
    tellFigure(
      `processor time: Node ${bare.toFixed()} ms, version ${version.toFixed()}, search ${search.toFixed()}`,
    );
    // budgets: 60 and 150 ms where Node itself takes 40; it takes up to twice as long while other work runs
    expect(version).toBeLessThan(3 * bare);
    expect(search).toBeLessThan(7.5 * bare);
  });

  test("ends quietly when its reader closes the pipe", () => {
    const script = `node ${join(esm, "node_modules/quern/dist/cli.js")} search --json -- '-(nothing)' | head -c 1`;
    expect(
      execFileSync("bash", ["-c", `set -o pipefail; ${script}`], { cwd: esm, encoding: "utf8" }),
    ).toHaveLength(1);
  });
});

interface Bundling {
  readonly from: ModuleSystem;
  readonly format: "esm" | "cjs";
  readonly external?: string[];
  readonly banner?: string;
}

/** Bundles a host into one file with esbuild. */
async function bundle({ from, format, external = [], banner = "" }: Bundling): Promise<string> {
  const { file, text } = hostScript(from);
  writeFileSync(join(esm, file), text);
  const outfile = join(mkdtempSync(join(esm, "bundle-")), format === "esm" ? "out.mjs" : "out.cjs");
  await build({
    entryPoints: [join(esm, file)],
    outfile,
    bundle: true,
    platform: "node",
    format,
    external,
    logLevel: "error",
    banner: { js: banner },
  });
  return outfile;
}

const CREATE_REQUIRE =
  'import { createRequire as from } from "node:module"; const require = from(import.meta.url);';

describe("a host that is bundled", () => {
  const start = async (bundling: Bundling) =>
    promisify(execFile)(process.execPath, [await bundle(bundling)], { cwd: esm, timeout: 280_000 });

  test.each(someOf(["esm", "cjs"] as const, 2))(
    "works if quern is external (%s)",
    async (format) => {
      const { stdout } = await start({ from: "module", format, external: ["quern"] });
      expect(JSON.parse(stdout)).toMatchObject({ found: 1, statuses: [200, 400] });
    },
  );

  // without CommonJS to a plain ES module, because esbuild's code rejects each require("node:…")
  const bundlings: readonly Bundling[] = [
    { from: "module", format: "esm" },
    { from: "module", format: "esm", banner: CREATE_REQUIRE },
    { from: "module", format: "cjs" },
    { from: "commonjs", format: "cjs" },
    { from: "commonjs", format: "esm", banner: CREATE_REQUIRE },
  ];
  test.each(someOf(bundlings, 2))(
    "is told to make quern external ($from as $format $banner)",
    async (bundling) => {
      await expect(start(bundling)).rejects.toMatchObject({
        stderr: expect.stringMatching(
          /a bundler has bundled quern.* as external; in Next\.js by serverExternalPackages: \["quern"\]/,
        ) as unknown,
      });
    },
  );
});

for (const version of NODES) {
  const isSkipped = !isFetched(version) && !isStrict;
  const title = isSkipped ? "fetch it with npx tsx scripts/nodes.ts" : "installed";
  describe.skipIf(isSkipped)(`Node ${version} (${title})`, () => {
    const node = nodeBinary(version);

    test.each(someOf(["module", "commonjs"] as const, 2))("runs a host (%s)", async (type) => {
      const { file, text } = hostScript(type);
      const versioned = `${text}console.error(process.version);`;
      const { stdout, stderr } = await run(project(packed, type), file, versioned, node);
      expect(JSON.parse(stdout)).toEqual(FOUND);
      expect(stderr).toBe(`v${version}\n`);
    });

    test("runs a bundled host with external quern", async () => {
      const outfile = await bundle({ from: "module", format: "esm", external: ["quern"] });
      const { stdout } = await promisify(execFile)(node, [outfile], { cwd: esm });
      expect(JSON.parse(stdout)).toMatchObject({ found: 1, statuses: [200, 400] });
    });

    test("starts with the flags of tests", async () => {
      await promisify(execFile)(node, [...shortLived(version), "-e", "0"]);
    });

    test("runs the command", async () => {
      const cwd = project(packed, "module");
      const quern = (...args: string[]) =>
        promisify(execFile)(node, ["node_modules/quern/dist/cli.js", ...args], { cwd });
      mkdirSync(join(cwd, "text"));
      writeFileSync(join(cwd, "text/found.txt"), "a needle in a haystack\n");
      await quern("index", "text");
      const { stdout } = await quern("search", "needle in");
      expect(stdout).toBe("text:found.txt\n1:a needle in a haystack\n");
    });
  });
}

test("the folder of the build has only the folders of the page and the modules", () => {
  const entries = readdirSync("dist", { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  expect(folders.sort()).toEqual(["page", "wasm"]);
});
