/**
 * Agents see an index as if its secrets were not there. The oracle is a second engine: it has the same repositories, but
 * without the secret files, and with masks that this test writes in place of the secret values.
 */

import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { git, type Engine } from "../../src/index.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";
import { makeRepository, type MadeCommit } from "../history/generated.ts";
import { callTool, connected } from "./connected.ts";

const of = (alphabet: string, length: number) =>
  fc
    .array(fc.constantFrom(...alphabet.split("")), { minLength: length, maxLength: length })
    .map((characters) => characters.join(""));
const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER = UPPER.toLowerCase();
const DIGITS = "0123456789";
const WORD = UPPER + LOWER + DIGITS;
const HEX = `${DIGITS}abcdef`;
const joined = (...parts: (string | fc.Arbitrary<string>)[]) =>
  fc
    .tuple(...parts.map((part) => (typeof part === "string" ? fc.constant(part) : part)))
    .map((all) => all.join(""));

/** A secret of each kind: what is shown of it, and what is masked. */
const KINDS: readonly [
  kind: string,
  shown: string | fc.Arbitrary<string>,
  value: fc.Arbitrary<string>,
][] = [
  ["github", "", joined(fc.constantFrom("ghp_", "gho_", "ghs_"), of(WORD, 36))],
  ["github, fine", "", joined("github_pat_", of(WORD, 22), "_", of(WORD, 59))],
  ["gitlab", "", joined("glpat-", of(WORD, 20))],
  ["aws id", "", joined(fc.constantFrom("AKIA", "ASIA"), of(`${UPPER}234567`, 16))],
  ["aws key", "AWS_SECRET_ACCESS_KEY=", of(`${WORD}/+`, 39).map((text) => `${text}x`)],
  ["google", "", joined("AIza", of(WORD, 35))],
  ["google client", "", joined("GOCSPX-", of(WORD, 28))],
  ["slack", "", joined("xoxb-", of(DIGITS, 12), "-", of(WORD, 24))],
  ["stripe", "", joined("sk_live_", of(WORD, 24))],
  ["npm", "", joined("npm_", of(WORD, 36))],
  ["npmrc", "//registry.example.com/:_authToken=", of(HEX, 32)],
  ["pypi", "", joined("pypi-AgEIcHlwaS5vcmc", of(WORD, 60))],
  ["openai", "", joined("sk-proj-", of(WORD, 40), "T3BlbkFJ", of(WORD, 40))],
  ["anthropic", "", joined("sk-ant-api03-", of(WORD, 95))],
  ["sendgrid", "", joined("SG.", of(WORD, 22), ".", of(WORD, 43))],
  ["hugging face", "", joined("hf_", of(UPPER + LOWER, 34))],
  [
    "private key",
    "-----BEGIN RSA PRIVATE KEY-----",
    joined("\n", of(WORD, 64), "\n", of(WORD, 64), "\n", of(WORD, 30), "==\n"),
  ],
];

/** A secret in a file's text, and the same text as agents see it. */
interface Planted {
  readonly text: string;
  readonly masked: string;
  readonly value: string;
}

const maskOf = (value: string): string =>
  value
    .split("\n")
    .map((line) => Array.from(line, (_, i) => (i % 2 === 0 ? "*" : "_")).join(""))
    .join("\n");

const endOf = (name: string): string =>
  name.startsWith("-----") ? name.replace("BEGIN", "END") : "";

const planted: fc.Arbitrary<Planted> = fc.constantFrom(...KINDS).chain(([, shown, value]) =>
  fc.tuple(typeof shown === "string" ? fc.constant(shown) : shown, value).map(([name, secret]) => ({
    text: `// before "${name}${secret}${endOf(name)}" needle after\n`,
    masked: `// before "${name}${maskOf(secret)}${endOf(name)}" needle after\n`,
    value: secret.trim().split("\n").at(-1)!,
  })),
);

const SECRET_FILES = [".env", "web/.env.local", "deploy/id_rsa", "a.p12", ".netrc", "prod.env"];
const SHOWN_FILES = [".env.example", "id_rsa.pub", ".npmrc", "environment.ts", "src/env.js"];

function commitsOf(secrets: readonly Planted[], isMasked: boolean): MadeCommit[] {
  const textOf = ({ text, masked }: Planted): string => (isMasked ? masked : text);
  const [first, ...others] = secrets;
  const files = others.map((secret, i) => ({
    path: `src/file${i}.js`,
    content: `function order${i}() {\n  return needle;\n}\n${textOf(secret)}`,
  }));
  const hidden = isMasked
    ? []
    : SECRET_FILES.map((path) => ({ path, content: "needle = TOKEN\n" }));
  const shown = SHOWN_FILES.map((path) => ({ path, content: "needle here\n" }));
  return [
    { branch: "main", message: "Begin\n", changes: [...files, ...shown, ...hidden] },
    {
      branch: "other",
      message: `Other ${textOf(first!)}\n`,
      parents: [1],
      changes: [{ path: "src/file0.js", content: `// other ${textOf(first!)}` }],
    },
  ];
}

async function clientOf(secrets: readonly Planted[], isMasked: boolean) {
  const engine: Engine = await openEngine({ workers: 0 });
  onTestFinished(() => engine.close());
  const folder = makeRepository(commitsOf(secrets, isMasked), temporaryFolder());
  await engine.index(git(folder, { name: "shop", revisions: ["main", "other"], history: true }));
  const options = isMasked ? { secrets: "show" as const } : {};
  return { engine, client: await connected(createMcpHandler(engine, options)) };
}

const callsOf = (value: string): [tool: string, args: Record<string, unknown>][] => [
  ["search", { query: "needle" }],
  ["search", { query: "needle", revision: "other" }],
  ["search", { query: `needle or "${value}"`, maxTokens: 200 }],
  ["search", { query: `"${value}"` }],
  ["search", { query: `"${value.slice(0, 9)}"`, revision: "*" }],
  ["search", { query: `needle -content:"${value}"` }],
  ["search", { query: "TOKEN" }],
  ["find_files", { query: "env" }],
  ["find_files", { query: "id_rsa" }],
  ["outline", { repository: "shop" }],
  ["definitions", { symbol: "order0" }],
  ["references", { symbol: value.slice(-8) }],
  ["references", { symbol: "order0", certainty: "likely" }],
  ["read", { file: ".env" }],
  ["read", { file: "src/file0.js" }],
  ["read", { file: "src/file0.js", revision: "other" }],
  ["tree", { repository: "shop", depth: 9 }],
  ["tree", { repository: "shop", revision: "other", depth: 9 }],
  ["history", { repository: "shop", diff: "main..other" }],
  ["history", { repository: "shop", blame: "1-9", path: "src/file0.js" }],
  ["history", { repository: "shop", blame: "1-9", path: ".env" }],
  ["history", { repository: "shop", changed: value }],
  ["history", { repository: "shop", changed: "needle" }],
  ["history", { repository: "shop", changed: "TOKEN" }],
];

/** What the two answers may differ in: ids, cursors, and quern's own words about secrets. */
const withoutWords = (text: string): string =>
  text
    .replace(/ ?Files and values that look like secrets are hidden\./g, "")
    .replace(/cursor "\d{12}"/g, "cursor")
    .replace(/^[0-9a-f]{10} /gm, "")
    .split("\n")
    .filter((line) => line !== "#" && line !== "# ")
    .join("\n");

test("every answer is that of an index without the secrets", async () => {
  const holds = async (secrets: readonly Planted[]): Promise<void> => {
    const { client } = await clientOf(secrets, false);
    const { client: oracle } = await clientOf(secrets, true);
    for (const { value } of secrets.slice(0, 2))
      for (const [tool, args] of callsOf(value)) {
        const what = `${tool} ${JSON.stringify(args)}`;
        const [seen, wanted] = [
          await callTool(client, tool, args),
          await callTool(oracle, tool, args),
        ];
        expect(withoutWords(seen.text), what).toBe(withoutWords(wanted.text));
        expect({ ...seen.facts, cursor: 0 }, what).toEqual({ ...wanted.facts, cursor: 0 });
        if (!JSON.stringify(args).includes(value.slice(0, 9)))
          expect(seen.text).not.toContain(value);
      }
  };
  const some = fc.array(planted, { minLength: 3, maxLength: 6 });
  await fc.assert(fc.asyncProperty(some, holds), { numRuns: 2, endOnFailure: true });
});
