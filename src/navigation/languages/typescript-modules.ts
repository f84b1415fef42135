/**
 * Finds what a specifier of an import means: a path, a package of the same repository, or a path that tsconfig.json
 * maps. Extensions are tried in the order in which the compiler prefers them.
 */

import { posix } from "node:path";
import type { Facts } from "../facts/facts.ts";
import type { Module, Modules } from "../facts/modules.ts";

const SOURCES = [".ts", ".tsx", ".mts", ".cts", ".d.ts"];
const SCRIPTS = [".js", ".jsx", ".mjs", ".cjs"];
const INDEXES = ["index.ts", "index.tsx", "index.d.ts", "index.js", "index.mjs"];
/** Folders in which a package keeps its sources. */
const PACKAGE_FOLDERS = ["src", "", "lib", "source"];

export const typescriptModule = (
  modules: Modules,
  from: Facts,
  specifier: string,
): Module | undefined =>
  modules.memo(`ts module ${posix.dirname(from.path)} ${specifier}`, () => {
    if (specifier.startsWith("."))
      return fileAt(modules, posix.join(posix.dirname(from.path), specifier));
    return (
      inPackages(modules, specifier) ??
      inPaths(modules, from, specifier) ??
      atRoot(modules, specifier)
    );
  });

function fileAt(modules: Modules, path: string): Module | undefined {
  const bare = path.replace(/\.([cm]?)jsx?$/, "");
  const tried = [
    ...(/\.[cm]?tsx?$/.test(path) ? [path] : []),
    ...[bare, path].flatMap((one) => SOURCES.map((extension) => one + extension)),
    ...(/\.[cm]?jsx?$/.test(path) ? [path] : []),
    ...SCRIPTS.map((extension) => bare + extension),
    ...INDEXES.map((name) => posix.join(path, name)),
  ];
  for (const one of tried) {
    const facts = modules.has(one) ? modules.facts(one) : undefined;
    if (facts) return { files: [facts] };
  }
  return undefined;
}

function inPackages(modules: Modules, specifier: string): Module | undefined {
  for (const [name, folder] of packagesOf(modules)) {
    if (specifier !== name && !specifier.startsWith(`${name}/`)) continue;
    const rest = specifier.slice(name.length + 1);
    for (const base of PACKAGE_FOLDERS) {
      const found = fileAt(modules, posix.join(folder, base, rest));
      if (found) return found;
    }
  }
  return undefined;
}

const packagesOf = (modules: Modules): readonly (readonly [name: string, folder: string])[] =>
  modules.memo("npm packages", () =>
    modules.named("package.json").flatMap((path) => {
      const { name } = parsed(modules.text(path)) as { name?: unknown };
      return typeof name === "string" && name !== "" ? [[name, posix.dirname(path)] as const] : [];
    }),
  );

interface PathRule {
  readonly folder: string;
  readonly pattern: string;
  readonly targets: readonly string[];
}

/** Looks up `compilerOptions.paths` of the tsconfig.json nearest above the file. */
function inPaths(modules: Modules, from: Facts, specifier: string): Module | undefined {
  const rules = pathRules(modules).filter(
    ({ folder }) => folder === "." || from.path.startsWith(`${folder}/`),
  );
  for (const { folder, pattern, targets } of rules) {
    const [before, after] = pattern.split("*") as [string, string?];
    const isMatch =
      after === undefined
        ? specifier === pattern
        : specifier.startsWith(before) && specifier.endsWith(after);
    if (!isMatch) continue;
    const middle = specifier.slice(before.length, specifier.length - (after ?? "").length);
    for (const target of targets) {
      const found = fileAt(modules, posix.join(folder, target.replace("*", middle)));
      if (found) return found;
    }
  }
  return undefined;
}

const pathRules = (modules: Modules): readonly PathRule[] =>
  modules.memo("ts paths", () =>
    ["tsconfig.json", "tsconfig.base.json", "jsconfig.json"]
      .flatMap((name) => modules.named(name))
      .flatMap((path): PathRule[] => {
        const { compilerOptions } = parsed(modules.text(path)) as {
          compilerOptions?: { baseUrl?: unknown; paths?: unknown };
        };
        const { baseUrl, paths } = compilerOptions ?? {};
        if (typeof paths !== "object" || paths === null) return [];
        const folder = posix.join(posix.dirname(path), typeof baseUrl === "string" ? baseUrl : "");
        return Object.entries(paths).map(([pattern, targets]) => ({
          folder,
          pattern,
          targets: Array.isArray(targets) ? targets.filter((one) => typeof one === "string") : [],
        }));
      })
      .sort((a, b) => b.folder.length - a.folder.length),
  );

/** Paths that begin at the root or in src, as many bundlers resolve them. */
function atRoot(modules: Modules, specifier: string): Module | undefined {
  if (!specifier.includes("/")) return undefined;
  const path = specifier.replace(/^[@~]\//, "");
  return fileAt(modules, path) ?? fileAt(modules, posix.join("src", path));
}

/** Parses JSON with comments and trailing commas. Returns an empty object for anything else than an object. */
function parsed(text: string): object {
  for (const one of [
    text,
    text.replace(/("(?:[^"\\]|\\.)*")|\/\/.*|\/\*[^]*?\*\/|,(?=\s*[}\]])/g, "$1"),
  ])
    try {
      const value: unknown = JSON.parse(one);
      return typeof value === "object" && value !== null ? value : {};
    } catch {
      // the next form may parse
    }
  return {};
}
