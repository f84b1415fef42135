/**
 * Bundles the search page, src/page, into build/page/ or the given folder: `node scripts/build-page.mjs dist/page`.
 * Skips work that is up to date.
 *
 * Every file is written only as NAME.br, which takes half the space of two encodings. The server makes the other
 * encodings from it when a client requests them. page.json contains the document and the files' types.
 */

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const sources = join(root, "src/page");
const target = join(root, process.argv[2] ?? "build/page");
const record = join(target, "page.json");

const TYPES = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/**
 * CodeMirror parses for 20 to 100 ms at a time, and scrolling waits for that long. No option changes this, so its
 * constants are replaced: it parses for 5 ms at a time, whenever the browser has time, until everything is parsed. If a
 * new version of the package has other lines, the build fails; adapt them here.
 */
const SLICES = [
  [
    "deadline && !isInputPending ? Math.max(25 /* Work.MinSlice */, deadline.timeRemaining() - 5) : 1e9",
    "5",
  ],
  ["}, 100 /* Work.MinPause */);", "}, 10);"],
  ["setTimeout(() => callback(), 500 /* Work.MaxPause */)", "setTimeout(callback, 10)"],
  ["this.chunkBudget = 3000 /* Work.ChunkBudget */", "this.chunkBudget = 30_000"],
  ["newCx.work(20 /* Work.Apply */, upto)", "newCx.work(5, upto)"],
  ["parseState.work(20 /* Work.Apply */, vpTo)", "parseState.work(5, vpTo)"],
];

const shortSlices = {
  name: "short slices",
  setup: ({ onLoad }) =>
    onLoad({ filter: /@codemirror[\\/]language[\\/]dist[\\/]index\.js$/ }, ({ path }) => {
      const contents = SLICES.reduce(
        (text, [from, to]) => replaceOnly(text, from, to, path),
        readFileSync(path, "utf8"),
      );
      return { contents, loader: "js" };
    }),
};

function replaceOnly(text, from, to, path) {
  const parts = text.split(from);
  if (parts.length !== 2)
    throw new Error(`${path} has ${parts.length - 1} times, and not once: ${from}`);
  return parts.join(to);
}

const modified = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const inputs = [
  ...readdirSync(sources, { recursive: true }).map((name) => join(sources, name)),
  fileURLToPath(import.meta.url),
  join(root, "package-lock.json"),
];
if (modified(record) <= Math.max(...inputs.map(modified))) await buildPage();

async function buildPage() {
  const { outputFiles } = await build({
    entryPoints: { page: join(sources, "main.tsx"), mark: join(sources, "mark.svg") },
    outdir: target,
    bundle: true,
    splitting: true,
    format: "esm",
    target: ["es2022", "chrome109", "firefox115", "safari16.4"],
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    loader: { ".svg": "copy", ".shadow.css": "text" },
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    legalComments: "none",
    plugins: [shortSlices],
    metafile: true,
    write: false,
    logLevel: "warning",
  });
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const files = {};
  for (const { path, contents } of outputFiles) {
    const name = basename(path);
    files[name] = TYPES[name.split(".").at(-1)];
    writeFileSync(`${path}.br`, brotli(contents));
  }
  writeFileSync(record, JSON.stringify({ document: documentOf(Object.keys(files)), files }));
}

function brotli(contents) {
  const { BROTLI_PARAM_QUALITY, BROTLI_MAX_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
  const params = {
    [BROTLI_PARAM_QUALITY]: BROTLI_MAX_QUALITY,
    [BROTLI_PARAM_SIZE_HINT]: contents.length,
  };
  return brotliCompressSync(contents, { params });
}

/** Returns the document with the hashed names of its files. The server fills in {root} and {service}. */
function documentOf(names) {
  const named = (start, end) => names.find((name) => name.startsWith(start) && name.endsWith(end));
  return readFileSync(join(sources, "page.html"), "utf8")
    .replace("{script}", named("page-", ".js"))
    .replace("{style}", named("page-", ".css"))
    .replace("{mark}", named("mark-", ".svg"));
}
