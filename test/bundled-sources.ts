/**
 * Gives tests the modules of src/ from a few bundles. vitest asks its main process for each module and compiles it by
 * itself, some 400 for an engine: 0.35 s of processor time in each test process. Node loads the bundles in 0.1 s.
 *
 * A group is what one entry imports and no group before it has, so each module is in one bundle and exists once. A
 * module that a test imports becomes a list of names that it takes from its bundle. A bundle is not affected by
 * vi.mock(): files that call it must get the sources themselves.
 */

import { readdirSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { build, type BuildOptions, type Metafile } from "esbuild";
import type { Plugin } from "vitest/config";

/** The entries that most tests load come first. */
const ENTRIES = ["engine", "index", "http/index", "mcp/index", "cluster/index", "sync/index"].map(
  (name) => `src/${name}.ts`,
);

/** Bundles are in the same folder as the workers' entry, because the code looks for it there. */
const OUT = "build";
const PREFIX = "tests-";

const options = {
  platform: "node",
  format: "esm",
  target: "node20",
  outdir: OUT,
  logLevel: "error",
  metafile: true,
} satisfies BuildOptions;

/** Returns the bundle's code for each module of src/ that is in one. */
async function bundleSources(): Promise<ReadonlyMap<string, string>> {
  const bundling = { ...options, bundle: true, packages: "external", splitting: true } as const;
  const { inputs } = (await build({ ...bundling, entryPoints: ENTRIES, write: false })).metafile;
  const groups = groupsOf(inputs);
  const names = await exportsOf(Object.keys(inputs));
  const modules = new Map<string, string>();
  const entries = [...groups].map(([entry, files], group) => {
    const contents = files.map((file, n) => {
      const listed = names.get(file) ?? [];
      const bundle = resolve(OUT, `${PREFIX}${group}.mjs`);
      const taken = listed.map((name) => `m${n}_${name} as ${name}`).join(", ");
      modules.set(resolve(file), `export { ${taken} } from ${JSON.stringify(bundle)};`);
      const given = listed.map((name) => `${name} as m${n}_${name}`).join(", ");
      return `export { ${given} } from ${JSON.stringify(resolve(file))};`;
    });
    return { entry, name: `${PREFIX}${group}`, contents: contents.join("\n") };
  });
  const { metafile } = await build({
    ...bundling,
    entryPoints: Object.fromEntries(entries.map(({ name }) => [name, `group:${name}`])),
    plugins: [
      {
        name: "groups",
        setup(esbuild) {
          esbuild.onResolve({ filter: /^group:/ }, ({ path }) => ({ path, namespace: "group" }));
          esbuild.onLoad({ filter: /.*/, namespace: "group" }, ({ path }) => {
            const { contents } = entries.find(({ name }) => `group:${name}` === path)!;
            return { contents, resolveDir: resolve(".") };
          });
        },
      },
    ],
    chunkNames: `${PREFIX}[hash]`,
    outExtension: { ".js": ".mjs" },
    sourcemap: true,
  });
  for (const name of readdirSync(OUT))
    if (name.startsWith(PREFIX) && !(`${OUT}/${name}` in metafile.outputs))
      rmSync(`${OUT}/${name}`);
  return modules;
}

type Inputs = Metafile["inputs"];

/** Returns the files of each group by its entry. Dynamic imports are loaded later, so they are separate groups. */
function groupsOf(inputs: Inputs): Map<string, readonly string[]> {
  const groups = new Map<string, readonly string[]>();
  const seen = new Set<string>();
  const waiting = [...ENTRIES];
  for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
    const group: string[] = [];
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      group.push(file);
      for (const { path, kind, external } of inputs[file]?.imports ?? []) {
        if (external) continue;
        if (kind === "dynamic-import") waiting.push(path);
        else visit(path);
      }
    };
    visit(entry);
    if (group.length > 0) groups.set(entry, group);
  }
  return groups;
}

async function exportsOf(files: readonly string[]): Promise<Map<string, readonly string[]>> {
  const { outputs } = (await build({ ...options, entryPoints: [...files], write: false })).metafile;
  return new Map(Object.values(outputs).map(({ entryPoint, exports }) => [entryPoint!, exports]));
}

/** A bundle, which Node itself loads. */
export const BUNDLES = new RegExp(`/${OUT}/${PREFIX}[^/]*\\.mjs$`);

let made: Promise<ReadonlyMap<string, string>> | undefined;

export const bundledSources: Plugin = {
  name: "bundled sources",
  enforce: "pre",
  async load(id) {
    if (!id.startsWith(resolve("src"))) return undefined;
    made ??= bundleSources(); // at the first import: test/setup.ts has built the sources' imports by then
    return (await made).get(id);
  },
};
