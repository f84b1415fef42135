/** Addresses of files and folders, as this service makes them. */

import { expect, onTestFinished, test } from "vitest";
import { parseAddress } from "../../src/http/browse.ts";
import { createHandler } from "../../src/http/handler.ts";
import { openEngine } from "./engine.ts";
import { makeClone } from "./git-clone.ts";
import { bearer, clientOf, startService } from "./service.ts";

test.each<[string, object | undefined]>([
  ["shop@main/-/blob/a.ts", { repo: "shop", ref: "main", kind: "blob", path: "a.ts" }],
  ["acme/shop@v1/x/-/tree/src/a", { repo: "acme/shop", ref: "v1/x", kind: "tree", path: "src/a" }],
  ["shop/-/tree/", { repo: "shop", ref: undefined, kind: "tree", path: "" }],
  ["a%40b@c%20d/-/blob/%C3%A9%23", { repo: "a@b", ref: "c d", kind: "blob", path: "é#" }],
  ["shop@main/-/commits/a", undefined],
  ["shop@main/blob/a", undefined],
  ["%ff@main/-/blob/a", undefined],
  ["", undefined],
])("%s", (below, address) => {
  expect(parseAddress(below)).toEqual(address);
});

const LONG = "\u{1f511}é\n".repeat(40_000);

test("files and folders of any revision are returned as plain text, complete and in whole characters", async () => {
  const files = { "src/a.txt": "one\n", "src/long.txt": LONG, "b.txt": "" };
  const { folder, run } = makeClone(files);
  run("branch", "before");
  run("rm", "-q", "b.txt");
  run("commit", "-q", "-m", "second");
  const indexed = { "src/a.txt": "one\n", "src/long.txt": LONG };
  const engine = await openEngine([{ name: "acme/clone", files: indexed, gitFolder: folder }]);
  onTestFinished(() => engine.close());
  const client = clientOf(
    createHandler(engine, { anonymous: "all", maxConcurrent: 1, maxWaiting: 0 }),
  );
  const at = (place: string) => `/browse/acme/clone${place}`;
  const text = async (place: string) => (await client(at(place))).text();
  expect(await text("/-/blob/src/a.txt")).toBe("one\n");
  expect(await text("@HEAD/-/blob/src/long.txt")).toBe(LONG);
  expect(await text("@before/-/blob/b.txt")).toBe("");
  expect(await text("@before/-/tree/")).toBe("src/\nb.txt\n");
  expect(await text("/-/tree/src/")).toBe("a.txt\nlong.txt\n");
  const { headers, status } = await client(at("/-/blob/src/a.txt"), { method: "HEAD" });
  expect([status, headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
  expect(headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  const REFUSED: [place: string, status: number, code: string][] = [
    ["/-/blob/b.txt", 404, "FILE_NOT_FOUND"],
    ["/-/blob/..%2fb.txt", 404, "FILE_NOT_FOUND"],
    ["/-/blob/a%00", 404, "FILE_NOT_FOUND"],
    ["/-/tree/none", 404, "NOT_FOUND"],
    ["@none/-/tree/", 404, "NOT_FOUND"],
    ["@--output=x/-/blob/src/a.txt", 400, "INVALID_GIT_REF"],
    ["@HEAD:src/-/blob/a.txt", 404, "FILE_NOT_FOUND"],
  ];
  for (const [place, status, errorCode] of REFUSED) {
    const response = await client(at(place));
    expect([response.status, await response.json()], place).toMatchObject([status, { errorCode }]);
  }
});

test("a hidden file is answered like one that does not exist, and nobody reads without a credential", async () => {
  const service = await startService();
  service.visible.set("ada", new Set([service.ids["acme/other"]!]));
  const client = clientOf(service.handler);
  const headers = bearer(service.keys.ada);
  const told = async (repo: string) => {
    const response = await client(`/browse/${repo}@HEAD/-/blob/plan.md`, { headers });
    return [response.status, await response.json()];
  };
  expect(await told("acme/secret")).toEqual(await told("acme/none"));
  expect((await client("/browse/acme/other@HEAD/-/blob/x.txt", { headers })).status).toBe(200);
  expect((await client("/browse/acme/other@HEAD/-/blob/x.txt")).status).toBe(401);
});
