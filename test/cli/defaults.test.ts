/** Tests quern.json, which says where the index is and sets defaults of options. */

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { temporaryFolder } from "../engine/opened.ts";
import { quern } from "./terminal.ts";

const home = process.cwd();
afterEach(() => process.chdir(home));

/** Makes a folder with the configuration and an index in `data`, of which three lines match. */
async function project(config: string): Promise<string> {
  const root = temporaryFolder();
  mkdirSync(join(root, "src/deep"), { recursive: true });
  writeFileSync(join(root, "src/a.txt"), "one\nneedle\nneedle Needle\nfour\n");
  process.chdir(root);
  expect(await quern(["index", "src", "--name", "r", "--db", "data"])).toMatchObject({ code: 0 });
  writeFileSync(join(root, "quern.json"), config);
  process.chdir(join(root, "src/deep"));
  return root;
}

const search = (...argv: string[]) => quern(["search", "needle", ...argv]);

test("db is relative to the file, even in folders below, and typed options override it", async () => {
  const root = await project(`{ "db": "data", } // with a comment`);
  expect(await search("-c")).toMatchObject({ code: 0, stdout: "3\n" });
  expect(await search("-c", "--db", join(root, "none"))).toMatchObject({ code: 2 });
  const env = { QUERN_DB: join(root, "none") };
  expect(await quern(["search", "needle", "-c"], { env })).toMatchObject({ code: 2 });
});

test("an outside db is ignored if another one is given, and fields of sync are accepted", async () => {
  const root = await project(
    `{ "db": "/elsewhere", "$schema": "x", "connections": {}, "sync": {} }`,
  );
  expect(await search("-c", "--db", join(root, "data"))).toMatchObject({ code: 0 });
  const env = { QUERN_DB: join(root, "data") };
  expect(await quern(["search", "needle", "-c"], { env })).toMatchObject({ code: 0 });
});

test("the file sets defaults for a command's options", async () => {
  const root = await project(
    `{ "db": "data", "command": { "search": { "count": true, "case": true } } }`,
  );
  expect(await search()).toMatchObject({ code: 0, stdout: "2\n" });
  expect(await quern(["repos"])).toMatchObject({ code: 0 });
  const { stderr } = await quern(["keys", "list"]);
  expect(stderr).toContain(`there is no key and no member in ${join(root, "data")}`);
});

test("a default can be a number, and a typed option overrides it", async () => {
  await project(`{ "db": "data", "command": { "search": { "context": 1, "matches": 1 } } }`);
  expect((await search()).stdout.split("\n")).toContain("1-one");
  expect((await search("-C", "0")).stdout.split("\n")).not.toContain("1-one");
});

test("a flag that is false has no effect, and a flag that begins with no- can be true", async () => {
  await project(
    `{ "db": "data", "command": { "search": { "count": false }, "index": { "no-symbols": true } } }`,
  );
  expect((await search()).stdout).toContain("needle");
  expect((await quern(["index", "..", "--name", "s"])).stdout).not.toContain("symbol");
});

test.each<[config: string, said: RegExp]>([
  [`{ "db": 1 }`, /quern\.json: db must be a string/],
  [`[]`, /quern\.json: the file must be an object/],
  [`{ "dbb": "data" }`, /quern\.json: there is no field "dbb"; did you mean db\?/],
  [`{ "commands": {} }`, /quern\.json: there is no field "commands"; did you mean command\?/],
  [`{ "": 1 }`, /quern\.json: there is no field ""/],
  [
    `{ "db": "../elsewhere" }`,
    /quern\.json: db must be inside the folder of the file, .* type --db/,
  ],
  [`{ "db": "/tmp/elsewhere" }`, /quern\.json: db must be inside the folder of the file/],
  [`{ "db": "src/../../elsewhere" }`, /quern\.json: db must be inside the folder of the file/],
  [`{ "command": 1 }`, /command must be an object/],
  [`{ "command": { "serach": {} } }`, /there is no command "serach"; did you mean search\?/],
  [
    `{ "command": { "search": { "contxt": 1 } } }`,
    /command\.search\.contxt: there is no such option; did you mean context\?/,
  ],
  [
    `{ "command": { "search": { "context": "many" } } }`,
    /command\.search\.context: It must be a whole number/,
  ],
  [`{ "command": { "search": { "context": {} } } }`, /must be a string or a number/],
  [`{ "command": { "search": { "count": 1 } } }`, /command\.search\.count must be true or false/],
  [`{ "db": `, /is not JSON with comments: .* at line 1, column/],
])("the file %s is rejected", async (config, said) => {
  await project(config);
  const { code, stderr } = await search();
  expect(code).toBe(2);
  expect(stderr).toMatch(said);
});

test
  .skipIf(process.platform === "win32")
  .each<[what: string, make: (file: string) => void, said: RegExp]>([
    ["a pipe", (file) => execFileSync("mkfifo", [file]), /quern\.json: it is not a regular file/],
    ["a device", (file) => symlinkSync("/dev/zero", file), /quern\.json: it is not a regular file/],
    ["a folder", (file) => mkdirSync(file), /quern\.json: it is not a regular file/],
    [
      "endless",
      (file) => {
        writeFileSync(file, "");
        truncateSync(file, 2 ** 40);
      },
      /quern\.json: it is larger than 1048576 bytes/,
    ],
  ])("a quern.json that is %s is rejected", async (_, make, said) => {
  const root = await project("{}");
  rmSync(join(root, "quern.json"));
  make(join(root, "quern.json"));
  const { code, stderr } = await search();
  expect(code).toBe(2);
  expect(stderr).toMatch(said);
});

test.each([
  ["anonymous", "all"],
  ["host", "0.0.0.0"],
  ["sync", "quern.json"],
  ["cluster", "cluster.json"],
])("options that open a server or send tokens must be typed: %s", async (name, value) => {
  await project(`{ "db": "data", "command": { "serve": { "${name}": "${value}" } } }`);
  const { code, stderr } = await quern(["serve", "--port", "0"]);
  expect(code).toBe(2);
  expect(stderr).toContain(`command.serve.${name}: this option must be given on the command line`);
});
