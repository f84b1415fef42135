/**
 * Makes a host's project with the package, as `npm install` would, but without the network:
 * the tarball is unpacked, and its dependencies are links to those of this repository.
 */

import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

interface Manifest {
  readonly dependencies: Record<string, string>;
  readonly version: string;
}

export const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;

/** Other packages that hosts have, for their compilers and bundlers. */
const TOOLS = ["@types/node", "undici-types"];

export interface Packed {
  readonly folder: string;
  readonly tarball: string;
  readonly packedBytes: number;
  readonly files: readonly string[];
}

/** Packs the package that test/setup.ts or `.ci/check` has built. */
export function packPackage(): Packed {
  const folder = mkdtempSync(join(tmpdir(), "quern-package-"));
  const packing = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const [packed] = JSON.parse(
    execFileSync("npm", packing, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
  ) as [{ filename: string; size: number; files: { path: string }[] }];
  return {
    folder,
    tarball: join(folder, packed.filename),
    packedBytes: packed.size,
    files: packed.files.map(({ path }) => path),
  };
}

/** Makes an empty project that has installed the tarball. */
export function project({ folder, tarball }: Packed, type: "module" | "commonjs"): string {
  const path = mkdtempSync(join(folder, `${type}-`));
  const modules = join(path, "node_modules");
  mkdirSync(join(modules, "quern"), { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", join(modules, "quern"), "--strip-components=1"]);
  for (const name of [...Object.keys(manifest.dependencies), ...TOOLS]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(resolve("node_modules", name), join(modules, name));
  }
  writeFileSync(join(path, "package.json"), JSON.stringify({ name: "host", private: true, type }));
  return path;
}

/** Runs a script in the project. */
export async function run(
  path: string,
  file: string,
  text: string,
  node = process.execPath,
): Promise<{ stdout: string; stderr: string }> {
  writeFileSync(join(path, file), text);
  return promisify(execFile)(node, [file], { cwd: path });
}
