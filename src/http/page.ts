/**
 * Serves the search page. It consists of a document and its files, which scripts/build-page.mjs builds. Serving them
 * requires no credential, because they contain no data. The page gets its data from the other routes.
 *
 * The name of a file contains a hash of its content, so the file may be cached forever. The document contains these
 * names, so it must not be reused without asking the server.
 *
 * All addresses in the document are relative, so it does not matter if a proxy or a framework removes the start of
 * the path. If the page is opened at its base without a trailing slash (`/code`), a browser resolves relative
 * addresses against the base's parent. In this case, the addresses in the document begin with the last part of the
 * base (`./code/`). A redirect to `/code/` instead would loop if a framework removes trailing slashes.
 */

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliDecompress, gzip } from "node:zlib";
import type { Hono } from "hono";
import { packageFile } from "../base/package-file.ts";
import { QuernError } from "../base/errors.ts";
import { outerPath } from "./outer-path.ts";

/** Paths below `basePath` that return the document. The page chooses the view by its address. */
const VIEWS = ["/", "/search", "/find", "/browse/*"] as const;

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const DOCUMENT_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": POLICY,
  "Cache-Control": "no-cache",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Referrer-Policy": "no-referrer", // the address contains a query
  "X-Content-Type-Options": "nosniff",
};

/** The content of page.json. */
interface Built {
  readonly document: string;
  /** Maps the name of each file to its content type. */
  readonly files: Readonly<Record<string, string>>;
}

interface PageOptions {
  readonly basePath: string;
  readonly serviceName: string;
  /** Whether the service has the routes for commits. */
  readonly hasHistory: boolean;
}

/** Adds the page's paths to the app. Throws if the page has not been built. */
export function addPage(app: Hono, options: PageOptions): void {
  const { basePath } = options;
  const { document, files } = readBuilt();
  const paths = VIEWS.map((path) => basePath + path);
  for (const path of basePath === "" ? paths : [basePath, ...paths])
    app.get(path, ({ req: { raw } }) => {
      const isBase = basePath !== "" && new URL(raw.url).pathname === basePath;
      const outer = isBase ? basePath : outerPath(raw);
      const root = outer === undefined ? rootAbove(raw.url, basePath) : rootBelow(outer);
      return new Response(fill(document, root, options), { headers: DOCUMENT_HEADERS });
    });
  const load = loader();
  app.get(`${basePath}/assets/:name`, async (context, next) => {
    const name = context.req.param("name");
    const type = Object.hasOwn(files, name) ? files[name] : undefined;
    if (type === undefined) return next();
    const { raw } = context.req;
    const encoding = mayEncode(raw) ? encodingFor(raw.headers.get("accept-encoding")) : "identity";
    return answerFile(type, await load(name, encoding));
  });
}

function readBuilt(): Built {
  try {
    return JSON.parse(readFileSync(packageFile("page/page.json"), "utf8")) as Built;
  } catch (cause) {
    const message =
      "page: the page has not been built; run node scripts/build-page.mjs, or leave page out";
    throw new QuernError("INVALID_REQUEST", message, { cause });
  }
}

// ── the document ──

function fill(document: string, root: string, { serviceName, hasHistory }: PageOptions): string {
  return document
    .replaceAll("{root}", () => root)
    .replaceAll("{service}", () => serviceName)
    .replace("{history}", String(hasHistory));
}

/** Returns the relative path from a view up to the root. */
function rootAbove(url: string, basePath: string): string {
  const below = new URL(url).pathname.slice(basePath.length + 1);
  return "../".repeat(below.split("/").length - 1) || "./";
}

/**
 * Returns the relative path from a base without a trailing slash down to the root. The path is percent-encoded, so it
 * cannot contain markup or a scheme.
 */
function rootBelow(base: string): string {
  const { pathname } = new URL(base, "http://localhost");
  return `./${pathname.split("/").at(-1)!}/`;
}

// ── files ──

type Encoding = "br" | "gzip" | "identity";

/**
 * Whether the body may be sent compressed. It may not in Next.js, which removes Content-Encoding from the response of
 * a route and compresses the response itself.
 */
const mayEncode = (request: Request): boolean => !("nextUrl" in request);

/** Returns the most compact encoding that the client accepts. */
export function encodingFor(accept: string | null | undefined): Encoding {
  const taken = new Set<string>();
  for (const part of (accept ?? "").toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    if (!parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) taken.add(name);
  }
  if (taken.has("br")) return "br";
  return taken.has("gzip") ? "gzip" : "identity";
}

interface Encoded {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly encoding: Encoding;
}

/** Returns a function that reads a file and then caches it. All files together have 300 KB. */
function loader(): (name: string, encoding: Encoding) => Promise<Encoded> {
  const loaded = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();
  return async (name, encoding) => {
    const key = `${name} ${encoding}`;
    let bytes = loaded.get(key);
    if (bytes === undefined) {
      bytes = read(name, encoding);
      loaded.set(key, bytes);
      bytes.catch(() => loaded.delete(key));
    }
    return { bytes: await bytes, encoding };
  };
}

async function read(name: string, encoding: Encoding): Promise<Uint8Array<ArrayBuffer>> {
  const packed = await readFile(packageFile(`page/${name}.br`));
  if (encoding === "br") return new Uint8Array(packed);
  const bytes = await promisify(brotliDecompress)(packed);
  return new Uint8Array(encoding === "gzip" ? await promisify(gzip)(bytes) : bytes);
}

function answerFile(type: string, { bytes, encoding }: Encoded): Response {
  return new Response(bytes, {
    headers: {
      "Content-Type": type,
      "Content-Length": String(bytes.length),
      ...(encoding !== "identity" && { "Content-Encoding": encoding }),
      Vary: "Accept-Encoding",
      "Cache-Control": "public, max-age=31536000, immutable",
      "Cross-Origin-Resource-Policy": "same-origin",
      "X-Content-Type-Options": "nosniff",
    },
  });
}
