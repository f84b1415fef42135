/**
 * Measures ten tasks of a coding agent on a repository. It asks `quern mcp`, started as a client starts it, and compares
 * the answers with the output of `rg` and `git grep`, and with whole files:
 *
 *     npx tsx scripts/agent-tasks.ts FOLDER [--symbol NAME] [--file PATH] [--words TEXT] [--part FOLDER]
 *         [--names WORD] [--since DATE] [--topic WORD]
 *
 * FOLDER is a git work tree. The default words are found in quern's own repository. Prints Markdown, a part of which is
 * in docs/agents.md. Tokens are those of o200k. The times are of one run, without the server's start and first index.
 */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { encode } from "gpt-tokenizer/encoding/o200k_base";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    symbol: { type: "string", default: "tokenBound" },
    file: { type: "string", default: "src/mcp/answer.ts" },
    words: { type: "string", default: "Not all shown" },
    part: { type: "string", default: "src/history" },
    names: { type: "string", default: "error" },
    since: { type: "string", default: "1 week ago" },
    topic: { type: "string", default: "timeout" },
  },
});
const folder = resolve(positionals[0] ?? ".");
const { symbol, file, words, part, names, since, topic } = values;

interface Task {
  readonly question: string;
  readonly tool: string;
  readonly args: Record<string, unknown>;
  /** The commands that one would run in a shell instead. */
  readonly shell: readonly (readonly string[])[];
  /** Returns the files in the shell's output that one would have to read to know as much. */
  readonly reads: (output: string) => readonly string[];
}

const none = (): readonly string[] => [];
const pathsOf = (output: string): string[] => [
  ...new Set(output.split("\n").flatMap((line) => /^([^:]+):/.exec(line)?.[1] ?? [])),
];
const firstPath = (output: string): readonly string[] => pathsOf(output).slice(0, 1);

const TASKS: readonly Task[] = [
  {
    question: `How does \`${symbol}\` work?`,
    tool: "definitions",
    args: { symbol },
    shell: [["rg", "-n", `(function|class|const|def|func|fn) (\\(.*\\) )?${symbol}\\b`, "."]],
    reads: firstPath,
  },
  {
    question: "Who calls it?",
    tool: "references",
    args: { symbol },
    shell: [["rg", "-nw", symbol, "."]],
    reads: none,
  },
  {
    question: "Which tests would break without it?",
    tool: "references",
    args: { symbol, path: "test" },
    shell: [["rg", "-nw", symbol, "-g", "*test*", "-g", "test/**", "."]],
    reads: firstPath,
  },
  {
    question: `Where is the message “${words}” written?`,
    tool: "search",
    args: { query: `"${words}"`, contextLines: 2 },
    shell: [["rg", "-nF", "-C2", words, "."]],
    reads: none,
  },
  {
    question: `What is in \`${part}\`?`,
    tool: "outline",
    args: { path: part, maxTokens: 1_500 },
    shell: [
      [
        "rg",
        "-n",
        "^(export )?(async )?(func|function|class|const|interface|type|def|fn|struct) ",
        part,
      ],
    ],
    reads: none,
  },
  {
    question: `What does \`${file}\` define?`,
    tool: "outline",
    args: { path: file },
    shell: [],
    reads: () => [file],
  },
  {
    question: `Which files have “${names}” in the name?`,
    tool: "find_files",
    args: { query: names },
    shell: [["git", "ls-files", `*${names}*`]],
    reads: none,
  },
  {
    question: `What has changed since ${since}?`,
    tool: "history",
    args: { since, maxTokens: 1_500 },
    shell: [["git", "log", `--since=${since}`]],
    reads: none,
  },
  {
    question: `Who wrote the first lines of \`${file}\`?`,
    tool: "history",
    args: { path: file, blame: "1-12" },
    shell: [["git", "blame", "-L1,12", file]],
    reads: none,
  },
  {
    question: `How is “${topic}” handled?`,
    tool: "search",
    args: { query: topic, maxTokens: 1_500 },
    shell: [["git", "grep", "-ni", topic]],
    reads: none,
  },
];

const tokensOf = (text: string): number => encode(text).length;

function inShell({ shell, reads }: Task): { tokens: number; commands: string } {
  const outputs = shell.map(([command, ...args]) => {
    const { stdout, error } = spawnSync(command!, args, {
      cwd: folder,
      maxBuffer: 2 ** 28,
    });
    if (error) throw error;
    return stdout.toString();
  });
  const output = outputs.join("");
  const read = reads(output.replaceAll(/^\.\//gm, ""));
  const texts = read.map((path) => readFileSync(join(folder, path), "utf8"));
  return {
    tokens: tokensOf([output, ...texts].join("\n")),
    commands: [
      ...shell.map(
        (command) =>
          `\`${inCell(command.map((word) => (/[ *|(]/.test(word) ? `'${word}'` : word)).join(" "))}\``,
      ),
      ...read.map((path) => `read \`${path}\``),
    ].join(", "),
  };
}

/** Escapes bars, which would end the cell of a table. */
const inCell = (text: string): string => text.replaceAll("|", "\\|");

async function ask(client: Client, { tool, args }: Pick<Task, "tool" | "args">) {
  const began = performance.now();
  const result = await client.callTool({ name: tool, arguments: args });
  const [content] = result.content as { text: string }[];
  return { text: content!.text, ms: performance.now() - began };
}

const LINES_SHOWN = 7;
const shorten = (line: string): string => (line.length > 118 ? `${line.slice(0, 117)}…` : line);

function transcript({ question, tool, args }: Task, text: string, tokens: number): string {
  const lines = text.replaceAll("`".repeat(3), "'''").split("\n");
  const shown = lines.slice(0, LINES_SHOWN).map(shorten);
  const rest = lines.length > LINES_SHOWN ? [`(${lines.length - LINES_SHOWN} lines more)`] : [];
  return [
    `**${question}** ${tokens} tokens.`,
    "",
    "```text",
    `${tool} ${JSON.stringify(args)}`,
    "",
    ...shown,
    ...rest,
    "```",
    "",
  ].join("\n");
}

const home = mkdtempSync(join(tmpdir(), "quern-tasks-"));
const command = ["node_modules/tsx/dist/cli.mjs", "src/cli/bin.ts"].map((path) => resolve(path));
const client = new Client(
  { name: "agent-tasks", version: "1" },
  { versionNegotiation: { mode: "auto" } },
);
try {
  const args = [...command, "mcp", folder, "--db", join(home, "index")];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, stderr: "inherit" }),
  );
  const ready = { tool: "definitions", args: { symbol } };
  while (/INCOMPLETE/.test((await ask(client, ready)).text))
    await new Promise((next) => setTimeout(next, 100));
  const rows: string[] = [];
  const transcripts: string[] = [];
  const sums = { ours: 0, shell: 0 };
  for (const task of TASKS) {
    const { text, ms } = await ask(client, task);
    const tokens = tokensOf(text);
    const other = inShell(task);
    sums.ours += tokens;
    sums.shell += other.tokens;
    rows.push(
      `| ${task.question} | \`${task.tool}\` | ${tokens} | ${Math.round(ms)} | ${other.tokens} | ${other.commands} |`,
    );
    transcripts.push(transcript(task, text, tokens));
  }
  const { tools } = await client.listTools();
  const once = tokensOf(JSON.stringify(tools)) + tokensOf(client.getInstructions() ?? "");
  const commit = execFileSync("git", ["-C", folder, "rev-parse", "--short", "HEAD"])
    .toString()
    .trim();
  console.log(
    `Repository: ${basename(folder)} at ${commit}. The tools themselves take ${once} tokens of each conversation.\n`,
  );
  console.log(
    "| task | tool | tokens | ms | tokens without | how |\n| --- | --- | --- | --- | --- | --- |",
  );
  console.log([...rows, `| together | | ${sums.ours} | | ${sums.shell} | |`].join("\n"));
  console.log(`\n${transcripts.join("\n")}`);
} finally {
  await client.close();
  rmSync(home, { recursive: true, force: true });
}
