import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ObjectReader, OBJECT_LIMITS } from "../../src/git/git-objects.ts";
import { GitProcesses } from "../../src/git/git-process.ts";
import { git } from "../../src/ingest/sources/git.ts";
import { git as run, readLines, repository, tempFolder } from "./listing.ts";

const never = () => new AbortController().signal;
const content = (n: number) => `${n}`.repeat(n * 37);

/** Makes a repository with the files 0 to 99, of up to 7 KB each. */
function manyObjects(): { folder: string; ids: string[] } {
  const files = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f/${n}`, content(n)]));
  const folder = repository({ ...files, large: "x".repeat(300_000) });
  const ids = Array.from({ length: 100 }, (_, n) => `HEAD:f/${n}`);
  return { folder, ids };
}

/** GitProcesses that counts the processes. */
class Counted extends GitProcesses {
  started = 0;
  override start(args: readonly string[]) {
    this.started++;
    return super.start(args);
  }
}

test("requests that are made at once are answered in order by one process", async () => {
  const { folder, ids } = manyObjects();
  const processes = new Counted(folder, never());
  const reader = new ObjectReader(processes, "--batch");
  const objects = await Promise.all(
    [...ids, "HEAD:large", "HEAD:nope", "HEAD:f/1"].map((id) => reader.read(id)),
  );
  const texts = objects.map((object) => object && Buffer.from(object.content).toString());
  expect(texts).toEqual([
    ...ids.map((_, n) => content(n)),
    "x".repeat(300_000),
    undefined,
    content(1),
  ]);
  expect(
    objects.every(
      (object) => object === undefined || object.content.buffer.byteLength === object.size,
    ),
  ).toBe(true);
  expect(processes.started).toBe(1);
  reader.close();
  processes.kill();
});

test.each([
  [{ objects: 7 }, 14, 15],
  [{ bytes: 100_000 }, 3, 5],
])("a process is replaced after %j", async (limit, least, most) => {
  const { folder, ids } = manyObjects();
  const processes = new Counted(folder, never());
  const reader = new ObjectReader(processes, "--batch", { ...OBJECT_LIMITS, ...limit });
  for (let i = 0; i < 100; i += 10) {
    const objects = await Promise.all(ids.slice(i, i + 10).map((id) => reader.read(id)));
    expect(objects.map((object) => object?.size)).toEqual(
      ids.slice(i, i + 10).map((_, n) => content(i + n).length),
    );
  }
  expect(processes.started).toBeGreaterThanOrEqual(least);
  expect(processes.started).toBeLessThanOrEqual(most);
  reader.close();
  processes.kill();
});

test("an object over the limit is skipped, and those behind it are read", async () => {
  const { folder } = manyObjects();
  const processes = new GitProcesses(folder, never());
  const reader = new ObjectReader(processes, "--batch", { ...OBJECT_LIMITS, maxSize: 10_000 });
  const [large, small] = await Promise.allSettled([
    reader.read("HEAD:large"),
    reader.read("HEAD:f/1"),
  ]);
  expect(large).toMatchObject({ status: "rejected", reason: { code: "SOURCE_UNREADABLE" } });
  expect(small).toMatchObject({ status: "fulfilled", value: { size: content(1).length } });
  processes.kill();
});

test("--batch-check answers with sizes", async () => {
  const { folder } = manyObjects();
  const processes = new GitProcesses(folder, never());
  const reader = new ObjectReader(processes, "--batch-check");
  expect(await reader.read("HEAD:large")).toMatchObject({
    type: "blob",
    size: 300_000,
    content: { length: 0 },
  });
  expect(await reader.read("HEAD")).toMatchObject({ type: "commit" });
  expect(await reader.read("HEAD:nope")).toBeUndefined();
  processes.kill();
});

test("a process that is killed is replaced, and no answer is lost", async () => {
  const { folder, ids } = manyObjects();
  const processes = new Counted(folder, never());
  const reader = new ObjectReader(processes, "--batch");
  await reader.read(ids[1]!);
  const reading = Promise.all(ids.map((id) => reader.read(id)));
  processes.kill();
  expect((await reading).map((object) => object?.size)).toEqual(
    ids.map((_, n) => content(n).length),
  );
  expect(processes.started).toBe(2);
  reader.close();
  processes.kill();
});

test("objects that end the process are rejected one by one, up to a number of deaths", async () => {
  const { folder, ids } = manyObjects();
  const damaged = [10, 20, 30].map((n) => damage(folder, n));
  const processes = new GitProcesses(folder, never());
  const reader = new ObjectReader(processes, "--batch");
  const results = await Promise.allSettled(ids.map((id) => reader.read(id)));
  const refused = results.flatMap((result, n) => (result.status === "rejected" ? [n] : []));
  expect(refused).toEqual(damaged);
  reader.close();
  const strict = new ObjectReader(processes, "--batch", { ...OBJECT_LIMITS, deaths: 2 });
  const strictly = await Promise.allSettled(ids.map((id) => strict.read(id)));
  expect(strictly.slice(0, 10).every((result) => result.status === "fulfilled")).toBe(true);
  expect(strictly.slice(20).every((result) => result.status === "rejected")).toBe(true);
  processes.kill();
});

/** Changes the checksum at the end of a loose object, so that its header can be read but its content cannot. */
function damage(folder: string, n: number): number {
  const id = run(folder, "rev-parse", `HEAD:f/${n}`);
  const file = join(folder, ".git/objects", id.slice(0, 2), id.slice(2));
  const bytes = readFileSync(file);
  bytes[bytes.length - 1]! ^= 1;
  chmodSync(file, 0o600);
  writeFileSync(file, bytes);
  return n;
}

test("after close() nothing is read", async () => {
  const { folder } = manyObjects();
  const processes = new GitProcesses(folder, never());
  const reader = new ObjectReader(processes, "--batch");
  reader.close();
  await expect(reader.read("HEAD")).rejects.toMatchObject({ code: "ABORTED" });
  processes.kill();
});

test("objects that a partial clone lacks are unreadable, and are not fetched", async () => {
  const origin = repository({ a: "1", b: "22" });
  run(origin, "config", "uploadpack.allowFilter", "true");
  const folder = tempFolder();
  rmSync(folder, { recursive: true });
  run(origin, "clone", "-q", "--no-checkout", "--filter=blob:none", `file://${origin}`, folder);
  const packs = () => readdirSync(join(folder, ".git/objects/pack")).length;
  const before = packs();
  expect(existsSync(join(folder, ".git"))).toBe(true);
  expect(await readLines(git(folder))).toEqual(["a @0 unreadable", "b @0 unreadable"]);
  expect(packs()).toBe(before);
  run(folder, "checkout", "-q", "HEAD", "--", "b");
  expect(await readLines(git(folder))).toEqual(["a @0 unreadable", 'b @0 "22"']);
});
