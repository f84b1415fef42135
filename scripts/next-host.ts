/**
 * Mounts the page in a Next.js app, and walks through it in a browser: `npx tsx scripts/next-host.ts`. It packs the
 * package, installs it with Next.js in a temporary folder, and starts the app below a base path. Next.js strips that
 * path, and trailing slashes, from the addresses that handlers see. Next.js takes 0.3 GB and a network, which is too
 * much for a test. The mounts of test/page/mounts.long.test.ts need neither.
 */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { documents, open } from "../src/index.ts";
import { launchBrowser } from "../test/page/launch.ts";

const VERSION = process.argv[2] ?? "16";
const APP = "/team"; // Next.js's own base path
const MOUNT = "/code";
const STEP_MS = 60_000;

const FILES = [
  {
    path: "src/cart.ts",
    content: "import { round } from './round.ts';\nexport const total = round;\n",
  },
  {
    path: "src/round.ts",
    content: "export function round(cents: number): number {\n  return cents;\n}\n",
  },
];

const folder = mkdtempSync(join(tmpdir(), "quern-next-"));
const run = (program: string, args: string[], cwd: string): string =>
  execFileSync(program, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

try {
  const [{ filename }] = JSON.parse(
    run("npm", ["pack", "--json", "--pack-destination", folder], resolve(".")).replace(
      /^[^[]*/,
      "",
    ),
  ) as [{ filename: string }];
  writeApp();
  const installed = ["install", "--no-audit", "--no-fund", `next@${VERSION}`, "react", "react-dom"];
  run("npm", [...installed, join(folder, filename)], folder);
  const engine = await open(join(folder, "index"));
  await engine.index(documents({ name: "shop", files: FILES }));
  await engine.close();
  run("npx", ["next", "build"], folder);
  await walk(await freePort());
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function writeApp(): void {
  const route = join(folder, "app", MOUNT, "[[...path]]");
  mkdirSync(route, { recursive: true });
  const files: [path: string, text: string][] = [
    ["package.json", JSON.stringify({ private: true, type: "module" })],
    [
      "next.config.mjs",
      `export default { basePath: ${JSON.stringify(APP)}, serverExternalPackages: ["quern"], turbopack: { root: import.meta.dirname } };\n`,
    ],
    ["app/layout.js", "export default ({ children }) => <html><body>{children}</body></html>;\n"],
    ["app/page.js", "export default () => <p>host</p>;\n"],
    [
      join("app", MOUNT, "[[...path]]", "route.js"),
      `import { open } from "quern";
import { createHandler } from "quern/http";

const started = open(${JSON.stringify(join(folder, "index"))}, { readOnly: true }).then((engine) =>
  createHandler(engine, { anonymous: "all", page: true, basePath: ${JSON.stringify(MOUNT)} }),
);
const answer = async (request) => (await started)(request);

export { answer as GET, answer as POST };
export const dynamic = "force-dynamic";
`,
    ],
  ];
  for (const [path, text] of files) writeFileSync(join(folder, path), text);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function walk(port: number): Promise<void> {
  const next = join(folder, "node_modules/next/dist/bin/next");
  const args = [next, "start", "--hostname", "127.0.0.1", "--port", String(port)];
  const server = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const browser = await launchBrowser();
  try {
    await untilReady(server.stdout);
    const page = await browser.newPage();
    page.setDefaultTimeout(STEP_MS);
    const complaints = listen(page, port);
    await visitViews(page, `http://127.0.0.1:${port}${APP}${MOUNT}`);
    if (complaints.length > 0) throw new Error(`the page complained:\n${complaints.join("\n")}`);
  } finally {
    await browser.close();
    server.kill();
    await once(server, "exit");
  }
}

/** Collects errors of the page, answers with an error status, and requests to other hosts. */
function listen(page: Page, port: number): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  page.on("request", (request) => {
    if (new URL(request.url()).host !== `127.0.0.1:${port}`) complaints.push(request.url());
  });
  return complaints;
}

/** Visits the start page, a search, a file, the uses of a name in it, its folder, and goes back. */
async function visitViews(page: Page, root: string): Promise<void> {
  const seen = (what: string): void => console.log(`${what}: ${page.url()}`);
  const lines = page.locator(".cm-line");
  await page.goto(root);
  await page.getByRole("link", { name: "shop", exact: true }).waitFor();
  seen("the start");
  await page.getByRole("textbox", { name: "Search code" }).fill("function round");
  await page.getByText("2 matches in 1 file").waitFor();
  seen("a search");
  await page.getByRole("link", { name: /round\.ts$/ }).click();
  await lines.first().waitFor();
  seen("a file");
  await page.reload();
  await lines
    .locator("span", { hasText: /^round$/ })
    .first()
    .click();
  await page.getByRole("heading", { name: /^References/ }).waitFor();
  seen("a name, in the same file by its link");
  await page.getByRole("navigation", { name: "Path" }).getByRole("link", { name: "src" }).click();
  await page.getByRole("link", { name: "cart.ts" }).waitFor();
  seen("a folder");
  await page.goBack();
  await lines.first().waitFor();
  seen("back");
}

/** Resolves to the address at which Next.js says it is ready. */
async function untilReady(output: NodeJS.ReadableStream): Promise<void> {
  for await (const text of output) {
    process.stdout.write(String(text));
    if (/ready/i.test(String(text))) return;
  }
  throw new Error("Next.js ended before it was ready");
}
