/** quern install, with the files of each client, and with random files in which nothing else may change. */

import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import fc from "fast-check";
import { parse } from "jsonc-parser";
import { expect, test } from "vitest";
import { CLIENT_NAMES, CLIENTS, fileOf, type ClientName } from "../../src/cli/agent-clients.ts";
import { withJsonEntry, withoutJsonEntry } from "../../src/cli/json-entry.ts";
import { withTomlEntry, withoutTomlEntry } from "../../src/cli/toml-entry.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { quern } from "./terminal.ts";

const SERVER = { command: "/bin/node", args: ["/opt/quern.js", "mcp", "/home/me/shop"] };

/** Runs quern install with a home of its own. */
function atHome(home = temporaryFolder()) {
  const env = { HOME: home };
  const pathOf = (client: ClientName): string =>
    fileOf(client, "user", { platform: process.platform, home, env, project: home })!.path;
  return {
    home,
    pathOf,
    install: (...words: string[]) => quern(["install", ...words], { env }),
    write: (client: ClientName, text: string): string => {
      mkdirSync(dirname(pathOf(client)), { recursive: true });
      writeFileSync(pathOf(client), text);
      return pathOf(client);
    },
  };
}

test.each(CLIENT_NAMES)("%s gets an entry that --undo removes", async (client) => {
  const { install, pathOf, home } = atHome();
  expect(await install(client, "--path", home)).toMatchObject({
    code: 0,
    stdout: `${CLIENTS[client].title}: written to ${pathOf(client)}\n`,
  });
  const text = readFileSync(pathOf(client), "utf8");
  const last = JSON.stringify(home);
  expect(text).toContain(last);
  if (client === "codex")
    expect(text).toMatch(
      /^\[mcp_servers\.quern\]\ncommand = ".*"\nargs = \[".*", "mcp", ".*"\]\n$/,
    );
  else {
    const [servers] = Object.values(parse(text) as Record<string, Record<string, object>>);
    expect(Object.keys(servers!)).toEqual(["quern"]);
  }
  expect((await install(client, "--path", home)).stdout).toContain(": nothing to change in ");
  expect((await install(client, "--undo")).stdout).toContain(": removed from ");
  expect(readFileSync(pathOf(client), "utf8")).toMatch(client === "codex" ? /^$/ : /^\{\s*\}\n$/);
  expect((await install(client, "--undo")).stdout).toContain(": nothing to remove from ");
});

test("without a client, the files of all clients are listed", async () => {
  const { install, write, pathOf } = atHome();
  write("cursor", "{}");
  const { stdout } = await install();
  expect(stdout.trim().split("\n")).toHaveLength(CLIENT_NAMES.length);
  expect(stdout).toMatch(/^codex .*config\.toml +\(does not exist yet\)$/m);
  expect(stdout).toMatch(new RegExp(`^cursor +${pathOf("cursor")}$`, "m"));
});

test("--print and --dry-run write nothing", async () => {
  const { install, pathOf } = atHome();
  const printed = await install("codex", "zed", "--print", "--command", "npx -y quern");
  expect(printed.stdout).toContain('command = "npx"\nargs = ["-y", "quern", "mcp", ');
  expect(printed.stdout).toContain('"context_servers": {');
  expect((await install("codex", "--dry-run")).stdout).toContain("Codex: would be written to ");
  expect(existsSync(pathOf("codex"))).toBe(false);
});

test("files keep their rights, and links stay links", async () => {
  const { install, home, pathOf } = atHome();
  const real = join(home, "dotfiles.json");
  writeFileSync(real, '{ "a": 1 }\n', { mode: 0o640 });
  mkdirSync(dirname(pathOf("cursor")));
  symlinkSync(real, pathOf("cursor"));
  await install("cursor");
  expect(readFileSync(real, "utf8")).toContain("quern");
  if (process.platform !== "win32") expect(statSync(real).mode & 0o777).toBe(0o640);
});

test.each<[ClientName, text: string, told: RegExp]>([
  ["cursor", '{ "mcpServers": }', /mcp\.json:1: ValueExpected; fix the file, or add/],
  ["cursor", "[1]", /the whole is not an object/],
  ["cursor", '{\n"mcpServers": [] }', /mcpServers is not an object/],
  [
    "cursor",
    '{ "mcpServers": { "quern": { "command": "grep" } } }',
    /the server quern is another program; choose another name with --name/,
  ],
  ["codex", "mcp_servers.x.command = 1\n", /mcp_servers is not written as tables/],
  ["codex", 'mcp_servers = { x = { command = "y" } }\n', /mcp_servers is not written as tables/],
  ["codex", '[mcp_servers.quern]\ncommand = "grep"\n', /is another program/],
])("%s with %j is refused and stays as it is", async (client, text, told) => {
  const { install, write } = atHome();
  const path = write(client, text);
  const ran = await install(client);
  expect(ran).toMatchObject({ code: 2, stdout: "" });
  expect(ran.stderr).toMatch(told);
  expect(readFileSync(path, "utf8")).toBe(text);
});

test("if one file is refused, no other is written", async () => {
  const { install, write, pathOf } = atHome();
  write("cursor", "[");
  expect((await install("codex", "cursor")).code).toBe(2);
  expect(existsSync(pathOf("codex"))).toBe(false);
});

test.each([
  [["emacs"], /there is no client "emacs"; there are claude-code, /],
  [["windsurf", "--project"], /Windsurf has no file for a project/],
  [["codex", "--name", "a.b"], /letters, digits, - and _/],
  [["codex", "--command", " "], /--command must not be empty/],
])("install %j is refused", async (words, told) => {
  const { install } = atHome();
  const ran = await install(...words);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toMatch(told);
});

test("opencode's servers are where the file has them", async () => {
  const place = { file: "opencode.json", table: ["mcp"], name: "quern" };
  const nested = await withJsonEntry('{ "mcp": { "servers": {} } }', place, { type: "local" });
  expect(parse(nested)).toEqual({ mcp: { servers: { quern: { type: "local" } } } });
});

const PLACE = { file: "file", table: ["mcpServers"], name: "quern" };

test("nothing else in a JSON file changes, and --undo restores it", async () => {
  const value = fc.oneof(fc.integer(), fc.string(), fc.constantFrom("/* no comment */", "}", '"'));
  const others = fc.dictionary(fc.stringMatching(/^[a-pr-z]{1,6}$/), value);
  const file = fc.record({
    before: others,
    servers: fc.option(others, { nil: undefined }),
    indent: fc.constantFrom(0, 2, 4, "\t"),
    comment: fc.constantFrom("", "// mine\n", "/* mine { */\n"),
    eol: fc.constantFrom("\n", "\r\n"),
  });
  await fc.assert(
    fc.asyncProperty(file, async ({ before, servers, indent, comment, eol }) => {
      const tree = { ...before, ...(servers && { mcpServers: servers }) };
      const text = (comment + JSON.stringify(tree, null, indent) + "\n").replaceAll("\n", eol);
      const added = await withJsonEntry(text, PLACE, SERVER);
      expect(parse(added)).toEqual({ ...tree, mcpServers: { ...servers, quern: SERVER } });
      expect(added.startsWith(comment.replaceAll("\n", eol))).toBe(true);
      const { mcpServers: _, ...rest } = tree;
      const left = servers && Object.keys(servers).length > 0 ? tree : rest;
      expect(parse(await withoutJsonEntry(added, PLACE))).toEqual(left);
    }),
    { numRuns: 300 },
  );
});

const TOML = { file: "file", table: ["mcp_servers"], name: "quern" };

test("nothing else in a TOML file changes, and --undo restores it", () => {
  const line = fc.constantFrom(
    'model = "a"',
    "[history]",
    "[mcp_servers.other]",
    '[mcp_servers."quern.x"]',
    "[[rules]]",
    'text = """\n[mcp_servers.quern]\n"""',
    "raw = '''\n[mcp_servers.quern]\n'''",
    'list = [\n  ["a"],\n  "]",\n]',
    "# [mcp_servers.quern]",
    'quoted = "# \\" ["',
    "",
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      const text = lines.length === 0 ? "" : `${lines.join("\n")}\n`;
      const added = withTomlEntry(text, TOML, SERVER);
      expect(added.startsWith(text)).toBe(true);
      expect(withTomlEntry(added, TOML, SERVER)).toBe(added);
      expect(withoutTomlEntry(added, TOML)).toBe(text);
    }),
    { numRuns: 300 },
  );
  const changed = `[a]\nx = 1\n\n[mcp_servers.quern]\ncommand = "old quern mcp"\n[mcp_servers.quern.env]\nA = "b"\n\n[z]\n`;
  expect(withoutTomlEntry(changed, TOML)).toBe("[a]\nx = 1\n[z]\n");
});

test("--agents-md writes a section that --undo removes, and replaces an older one", async () => {
  const folder = temporaryFolder();
  const own = process.cwd();
  process.chdir(folder);
  try {
    const { install } = atHome();
    writeFileSync("AGENTS.md", "# Rules\n\nBe kind.\n");
    await install("--agents-md");
    await install("--agents-md");
    const text = readFileSync("AGENTS.md", "utf8");
    expect(text.match(/quern: begin/g)).toHaveLength(1);
    expect(text.startsWith("# Rules\n\nBe kind.\n\n<!-- quern: begin -->")).toBe(true);
    await install("claude-code", "--project", "--agents-md", "--undo");
    expect(readFileSync("AGENTS.md", "utf8")).toBe("# Rules\n\nBe kind.\n");
    await install("claude-code", "--project");
    expect(readFileSync(".mcp.json", "utf8")).toContain(JSON.stringify(resolve(".")));
  } finally {
    process.chdir(own);
  }
});
