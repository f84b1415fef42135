/**
 * Bundles the engine and a script of the tests. Plain Node runs the bundle in a process of its own, with threads, and
 * starts within 0.2 s. `lmdb` is replaced by a module that names steps (lmdb-with-steps.ts). With
 * QUERN_BLIND a writer does not check who holds the lease.
 */

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build as runBuild, type Plugin } from "esbuild";

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const ROOT = path("../../..");

const BLIND = 'process.env["QUERN_BLIND"]';

const REPLACED: Record<string, readonly [from: string, to: string][]> = {
  "lmdb/lease": [
    ["lease?.owner !== owner)", `lease?.owner !== owner && !${BLIND})`],
    ["readLease(writer)?.owner === owner)", `readLease(writer)?.owner === owner || ${BLIND})`],
  ],
};

const steps: Plugin = {
  name: "steps",
  setup(build) {
    const stand = path("lmdb-with-steps.ts");
    build.onResolve({ filter: /^lmdb$/ }, ({ importer }) =>
      importer === stand ? { path: "lmdb", external: true } : { path: stand },
    );
    const left = new Set(Object.keys(REPLACED));
    build.onEnd(() => {
      if (left.size > 0) throw new Error(`nothing was replaced in ${[...left].join(", ")}`);
    });
    for (const [file, replaced] of Object.entries(REPLACED))
      build.onLoad({ filter: new RegExp(`src/store/${file}\\.ts$`) }, ({ path }) => {
        left.delete(file);
        let contents = readFileSync(path, "utf8");
        for (const [from, to] of replaced) {
          if (!contents.includes(from)) throw new Error(`there is no ${from} to replace`);
          contents = contents.replace(from, to);
        }
        return { contents, loader: "ts" };
      });
  },
};

export interface Bundle {
  /** Returns the script's path. worker.js and check.js are in the same folder. */
  script(name: string): string;
  remove(): void;
}

/** Bundles scripts of this folder, which are named without extension. */
export async function bundle(...names: readonly string[]): Promise<Bundle> {
  mkdirSync(join(ROOT, "build"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, "build", "steps-"));
  chmodSync(folder, 0o755); // also for other users
  const own = names.map((name) => [name, path(`${name}.ts`)]);
  await runBuild({
    entryPoints: Object.fromEntries([
      ...own,
      ["worker", join(ROOT, "src/worker.ts")],
      ["check", join(ROOT, "src/check.ts")],
    ]) as Record<string, string>,
    outdir: folder,
    bundle: true,
    packages: "external",
    plugins: [steps],
    platform: "node",
    format: "esm",
    target: "node20",
    outExtension: { ".js": ".js" },
    logLevel: "warning",
  });
  symlinkSync(join(ROOT, "build", "wasm"), join(folder, "wasm"));
  return {
    script: (name) => join(folder, `${name}.js`),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
