/** No path, wherever it comes from, leads out of the folder that is indexed. */

import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createHandler } from "../../src/http/handler.ts";
import { toNodeListener } from "../../src/http/node-listener.ts";
import { directory } from "../../src/ingest/sources/directory.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { Listing, Source } from "../../src/ingest/sources/source.ts";
import { readRules, walk } from "../../src/ingest/sources/walk.ts";
import { DiskTree } from "../../src/workspace/disk-tree.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";
import { bearer, clientOf, post, startService, type Service } from "../http/service.ts";

const SECRET = "the-content-of-a-file-outside";

/** Paths that lead elsewhere on some system. Those with a backslash or a drive are ordinary names on Linux. */
const LEAVING = [
  "../outside",
  "a/../../outside",
  "..",
  ".",
  "./a",
  "a/./b",
  "/etc/passwd",
  "//host/share",
  "a//b",
  "a/",
  "",
  "a\0.txt",
  "\0",
  "a/..",
];
const STRANGE = [
  "..\\outside",
  "C:\\boot.ini",
  "%2e%2e/outside",
  "%00",
  "..%2foutside",
  "...",
  "a:b",
];

test("documents: a path that leads elsewhere is listed as invalid and is never found", async () => {
  const engine = await openEngine();
  const files = [...LEAVING, ...STRANGE].map((path) => ({ path, content: SECRET }));
  const [report] = await engine.index(documents({ name: "r", files }), { symbols: "skip" });
  const invalid = report!.skipped.filter(({ reason }) => reason === "invalid-path");
  expect(invalid.length).toBe(LEAVING.length);
  const { files: found } = await engine.search({ query: SECRET, matches: 100 });
  expect(found.map(({ fileName }) => fileName.text).sort()).toEqual([...STRANGE].sort());
  for (const path of LEAVING)
    expect(await engine.read({ repository: "r", path }), path).toBeUndefined();
});

test.skipIf(process.platform === "win32")(
  "a directory's symlinks are not followed, to files, folders or up",
  async () => {
    const base = temporaryFolder();
    const [outside, inside] = [join(base, "outside"), join(base, "inside")];
    mkdirSync(outside);
    mkdirSync(join(inside, "sub"), { recursive: true });
    writeFileSync(join(outside, "secret"), SECRET);
    writeFileSync(join(inside, "own"), "our own text");
    const links = { file: join(outside, "secret"), folder: outside, up: "..", self: "." };
    for (const [name, target] of Object.entries(links))
      symlinkSync(target, join(inside, "sub", name));
    symlinkSync(join(outside, "secret"), join(inside, ".gitignore"));
    const engine = await openEngine();
    const [report] = await engine.index(directory(inside), { symbols: "skip" });
    expect(report!.skipped.map(({ path, reason }) => `${path} ${reason}`).sort()).toEqual([
      ".gitignore symlink",
      "sub/file symlink",
      "sub/folder symlink",
      "sub/self symlink",
      "sub/up symlink",
    ]);
    expect((await engine.search({ query: SECRET, matches: 10 })).stats.totalMatchCount).toBe(0);
    for (const path of ["sub/file", "sub/folder/secret", "../outside/secret"])
      expect((await engine.read({ repository: "inside", path }))?.content ?? "").not.toContain(
        SECRET,
      );
  },
);

test.skipIf(process.platform === "win32")(
  "a file that is swapped for a symlink after it was listed is not followed",
  async () => {
    const base = temporaryFolder();
    const [outside, inside] = [join(base, "outside"), join(base, "inside")];
    mkdirSync(inside);
    writeFileSync(outside, SECRET);
    for (const name of ["kept", "swapped"]) writeFileSync(join(inside, name), "our own text");
    const source = directory(inside);
    const swapping: Source = {
      ...source,
      async open(...asked) {
        const listing = await source.open(...asked);
        return { ...listing, entries: () => thenSwapped(listing) };
      },
    };
    async function* thenSwapped(listing: Listing): ReturnType<Listing["entries"]> {
      for await (const entries of listing.entries()) {
        rmSync(join(inside, "swapped"));
        symlinkSync(outside, join(inside, "swapped"));
        yield entries;
      }
    }
    const engine = await openEngine();
    const [report] = await engine.index(swapping, { symbols: "skip" });
    expect(report!.skipped).toMatchObject([{ path: "swapped", reason: "unreadable" }]);
    expect((await engine.search({ query: SECRET, matches: 10 })).stats.totalMatchCount).toBe(0);
    expect((await engine.search({ query: '"our own"', matches: 10 })).stats.fileCount).toBe(1);
  },
);

let service: Service;
beforeAll(async () => {
  service = await startService();
});

const forms = (path: string) => [encodeURIComponent(path), encodeURI(path).replaceAll("#", "%23")];

test.each([...LEAVING, ...STRANGE, "../../../../../../etc/passwd"])("routes: %j", async (path) => {
  const client = clientOf(service.handler);
  const headers = bearer(service.keys.ada);
  for (const form of forms(path)) {
    const response = await client(`/api/source?repo=acme%2Fopen&path=${form}`, { headers });
    expect([404, 400], form).toContain(response.status);
    expect(await response.text()).not.toMatch(/root:|node_modules|ENOENT/);
  }
  const tree = await client(
    "/api/tree",
    post({ repoName: "acme/open", revisionName: "HEAD", paths: [path] }, headers),
  );
  expect([200, 400, 404]).toContain(tree.status);
  const said = await tree.text();
  expect(said).not.toMatch(/root:|passwd"|ENOENT|node_modules/);
  for (const repo of forms(path)) {
    const answer = await client(`/api/source?repo=${repo}&path=README.md`, { headers });
    expect([404, 400]).toContain(answer.status);
  }
});

/** Sends the first line without normalisation, as ordinary clients never do. */
test.each([
  "/api/../../../etc/passwd",
  "/../../etc/passwd",
  "/api/%2e%2e/%2e%2e/etc/passwd",
  "/api/source/../../../etc/passwd",
  "/api\\..\\..\\etc\\passwd",
  "//etc/passwd",
  "/api/search/%00",
  "/api/ee/scoped_access_token/..%2f..%2fusers",
  "http://elsewhere/api/health",
  "/%ff%fe",
  "*",
])("a raw request for %s", async (target) => {
  const server = createServer(toNodeListener(createHandler(service.engine, { anonymous: "all" })));
  onTestFinished(() => void server.close());
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const answer = await new Promise<string>((done, fail) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () =>
      socket.write(`GET ${target} HTTP/1.1\r\nHost: host\r\nConnection: close\r\n\r\n`),
    );
    socket.on("data", (part) => (text += part.toString("latin1")));
    socket.on("end", () => done(text)).on("error", fail);
  });
  const isHealth = target.endsWith("/api/health");
  expect(answer).toMatch(isHealth ? /^HTTP\/1\.1 200/ : /^HTTP\/1\.1 4\d\d/);
  expect(answer).not.toMatch(/root:|ENOENT/);
});

test.runIf(process.platform === "linux").each([{}, { git: true }])(
  "a folder that is exchanged for a symlink after it was listed is not followed, %j",
  async (options) => {
    const [outside, folder] = [temporaryFolder(), temporaryFolder()];
    writeFileSync(join(outside, "b.txt"), "secret");
    for (const name of ["a", "c"]) mkdirSync(join(folder, name));
    writeFileSync(join(folder, "a/b.txt"), "1");
    writeFileSync(join(folder, "c/d.txt"), "2");
    if (options.git) execFileSync("git", ["init", "-q", folder]);
    const inside = directory(folder, { name: "r", ...options });
    const swapped: Source = {
      ...inside,
      open: async (indexed, options) => {
        const listing = await inside.open(indexed, options);
        async function* entries() {
          for await (const batch of listing.entries()) {
            renameSync(join(folder, "a"), join(folder, "moved"));
            symlinkSync(outside, join(folder, "a"));
            yield batch;
          }
        }
        return { revisions: listing.revisions, entries, close: () => listing.close() };
      },
    };
    const engine = await openEngine({ workers: 1 });
    const [report] = await engine.index(swapped, { symbols: "skip" });
    expect(report?.skipped).toMatchObject([{ path: "a/b.txt", reason: "unreadable" }]);
    expect((await engine.search({ query: "secret", matches: 1 })).stats.totalMatchCount).toBe(0);
    expect((await engine.search({ query: "2", matches: 1 })).stats.fileCount).toBe(1);
  },
);

test.runIf(process.platform === "linux")(
  "a workspace does not follow a folder that is exchanged after it was looked at",
  async () => {
    const [outside, folder] = [temporaryFolder(), realpathSync(temporaryFolder())];
    writeFileSync(join(outside, "b.txt"), "secret");
    mkdirSync(join(folder, "a"));
    writeFileSync(join(folder, "a/b.txt"), "first");
    const engine = await openEngine({ workers: 1 });
    await using tree = await engine.workspace(folder);
    writeFileSync(join(folder, "a/b.txt"), "second");
    const looks = vi.spyOn(DiskTree.prototype, "refresh");
    looks.mockImplementationOnce(async function (this: DiskTree, slice) {
      await this.refresh(slice);
      renameSync(join(folder, "a"), join(folder, "moved"));
      symlinkSync(outside, join(folder, "a"));
    });
    const { files } = await tree.search({ query: "first or second or secret", matches: 9 });
    looks.mockRestore();
    expect(files).toEqual([]);
  },
);

/** Walks a folder on this thread. directory() uses another thread, which is already past the swap. */
const walked = (root: string) =>
  walk({ root, ignore: [], gitignore: true }, { signal: ENDLESS, maxFileSize: 10 });
const listed = async function* (root: string) {
  const source = directory(root, { git: true });
  const listing = await source.open({ revisions: [] }, { signal: ENDLESS, maxFileSize: 10 });
  yield* listing.entries();
};
const ENDLESS = new AbortController().signal;

test.runIf(process.platform === "linux").each([
  ["walk", walked],
  ["git", listed],
])(
  "%s: a folder that is exchanged while its files are looked at tells nothing",
  async (_, list) => {
    const [outside, folder] = [temporaryFolder(), realpathSync(temporaryFolder())];
    mkdirSync(join(folder, "a/m"), { recursive: true });
    mkdirSync(join(outside, "m"));
    const names = Array.from({ length: 300 }, (_, i) => `${100 + i}`);
    for (const name of [...names, "m/x", "z"]) {
      writeFileSync(join(folder, "a", name), "1");
      writeFileSync(join(outside, name), "longer than a file may be");
    }
    execFileSync("git", ["init", "-q", folder]);
    const seen: string[] = [];
    for await (const entries of list(folder)) {
      if (seen.length === 0) {
        renameSync(join(folder, "a"), join(folder, "moved"));
        symlinkSync(outside, join(folder, "a"));
      }
      for (const entry of entries) seen.push(entry.kind === "skipped" ? entry.reason : entry.path);
    }
    expect(seen.slice(0, 300)).toEqual(names.map((name) => `a/${name}`));
    expect(seen.slice(300)).not.toContain("too-large");
  },
);

test.runIf(process.platform === "linux")("rules behind a symlink are not read", () => {
  const [outside, folder] = [temporaryFolder(), realpathSync(temporaryFolder())];
  writeFileSync(join(outside, ".gitignore"), "secret");
  symlinkSync(outside, join(folder, "a"));
  expect(readRules(join(folder, "a/.gitignore"))).toBe("");
  expect(readRules(join(realpathSync(outside), ".gitignore"))).toBe("secret");
});
