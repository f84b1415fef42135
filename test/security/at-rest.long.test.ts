/** Every command uses one data directory in turn. Then each secret is searched in all its bytes and in all output. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { hashSecret } from "../../src/auth/secrets.ts";
import { CORPUS } from "../../scripts/build-corpus.ts";
import { quern, type World } from "../cli/terminal.ts";
import { bearer, post } from "../http/service.ts";
import { formsOf } from "./secret-forms.ts";

interface Key {
  id: string;
  secret: string;
}

class Directory {
  readonly path = join(mkdtempSync(join(tmpdir(), "quern-at-rest-")), "index");
  /** All output of the commands, except the one line that shows a secret. */
  said = "";

  async run(argv: readonly string[], world: World = {}): Promise<string> {
    const { stdout, stderr } = await quern([...argv, "--db", this.path], world);
    const showsSecret = argv[1] === "create";
    this.said += showsSecret ? stderr : stdout + stderr;
    return stdout;
  }

  async createKey(...flags: string[]): Promise<Key> {
    return JSON.parse(await this.run(["keys", "create", "--json", ...flags])) as Key;
  }

  /** Returns every byte below the directory. */
  bytes(): Buffer {
    const files = readdirSync(this.path, { recursive: true, withFileTypes: true });
    const paths = files
      .filter((file) => file.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
    expect(paths.length).toBeGreaterThan(2); // of the index, and of the keys
    return Buffer.concat(paths.map((path) => readFileSync(path)));
  }
}

/** Serves the directory while `use` runs. */
async function serving(directory: Directory, use: (url: string) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  let served: Promise<string> | undefined;
  const announced = new Promise<string>((onOutput) => {
    const flags = ["--port", "0", "--json", "--workers", "1"];
    served = directory.run(["serve", ...flags], { signal: stop.signal, onOutput });
  });
  try {
    await use((JSON.parse(await announced) as { url: string }).url);
  } finally {
    stop.abort();
    await served;
  }
}

const search = { query: "checksum", matches: 10 };

/** Sends a secret in every place in which a client may send one, rightly or wrongly. */
async function sendEverywhere(url: string, secret: string): Promise<number[]> {
  const header = { "X-Quern-Api-Key": secret };
  const requests: [string, RequestInit?][] = [
    ["/api/search", post(search, bearer(secret))],
    ["/api/search", post(search, header)],
    ["/api/stream_search", post(search, { ...bearer(secret), ...header })],
    ["/api/search", post(search, bearer(`${secret}0`))],
    ["/api/search", post(search, bearer(secret.toUpperCase()))],
    ["/api/search", post(search, { ...header, Authorization: `Basic ${btoa(secret)}` })],
    ["/api/search", post(search, { ...header, Authorization: "Bearer another" })],
    ["/api/search", post({ ...search, query: secret }, bearer(secret))],
    ["/api/search", post({ ...search, query: `${secret} file:(` }, bearer(secret))],
    ["/api/search", post(`{"query":"${secret}`, bearer(secret))],
    [`/api/repos?query=${secret}`, { headers: bearer(secret) }],
    [`/${secret}?key=${secret}`, { headers: bearer(secret) }],
    ["/api/ee/users", { headers: bearer(secret) }],
    [`/api/ee/scoped_access_token/${secret}`, { method: "DELETE", headers: bearer(secret) }],
    ["/api/ee/scoped_access_token", post({ repoIds: [secret] }, bearer(secret))],
  ];
  const statuses = [];
  for (const [path, init] of requests) {
    const response = await fetch(url + path, init);
    await response.arrayBuffer();
    statuses.push(response.status);
  }
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.end(`${secret} no request\r\n\r\n`);
  await text(socket);
  return statuses;
}

test("no secret is in the data directory, nor in what the commands write", async () => {
  const directory = new Directory();
  onTestFinished(() => rmSync(join(directory.path, ".."), { recursive: true, force: true }));
  await directory.run(["index", join(CORPUS, "kv-log")]);
  const good = await directory.createKey("--name", "good");
  const revoked = await directory.createKey("--owner", "ada");
  const expired = await directory.createKey("--expires", "2020-01-01");
  const secrets = [good.secret, revoked.secret, expired.secret];
  await serving(directory, async (url) => {
    for (const key of [good, revoked]) {
      const minting = post({ repoIds: [1] }, bearer(key.secret));
      for (let n = 0; n < 2; n++) {
        const minted = await fetch(`${url}/api/ee/scoped_access_token`, minting);
        const { id, token } = (await minted.json()) as { id: string; token: string };
        secrets.push(token);
        if (n === 0) continue; // revoked by its owner
        const headers = bearer(key.secret);
        await fetch(`${url}/api/ee/scoped_access_token/${id}`, { method: "DELETE", headers });
      }
    }
    await directory.run(["keys", "revoke", revoked.id]);
    const [first] = await sendEverywhere(url, good.secret);
    expect(first).toBe(200);
    // one that is revoked, and scoped tokens: good, revoked by its owner, of a revoked key
    for (const n of [1, 3, 4, 5]) await sendEverywhere(url, secrets[n]!);
  });
  await directory.run(["keys", "list"]);
  await directory.run(["keys", "list", "--json", "--owner", "ada"]);
  await directory.run(["index", join(CORPUS, "duration")]);

  const bytes = directory.bytes();
  expect(bytes.includes(hashSecret(good.secret))).toBe(true); // the store is among them
  expect(secrets.length).toBe(7);
  for (const secret of secrets)
    for (const form of formsOf(secret)) {
      expect(bytes.includes(form)).toBe(false);
      expect(Buffer.from(directory.said).includes(form)).toBe(false);
    }
});

test.each<[string, (secret: string) => string | Buffer]>([
  ["plain", (secret) => secret],
  ["of the bytes", (secret) => Buffer.from(secret.slice(4), "hex")],
  ["base64 of a header", (secret) => btoa(`user:${secret}`)],
  [
    "base64 of the bytes within others",
    (secret) =>
      Buffer.concat([Buffer.from("ab"), Buffer.from(secret.slice(4), "hex")]).toString("base64"),
  ],
  ["hex of the text", (secret) => Buffer.from(`x${secret}`).toString("hex")],
  ["half of it", (secret) => secret.slice(0, 40)],
])("a secret would be found: %s", (_name, write) => {
  const secret = `qrn_${hashSecret("any")}`;
  const bytes = Buffer.concat([Buffer.from("before"), Buffer.from(write(secret)), Buffer.alloc(9)]);
  expect(formsOf(secret).some((form) => bytes.includes(form))).toBe(true);
});
