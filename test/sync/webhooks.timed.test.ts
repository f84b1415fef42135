/**
 * Deliveries of webhooks that are valid, invalid, old or repeated, to the handler that a host would mount and to
 * `quern serve --sync`.
 */

import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { watchStalls } from "../../bench/stall.ts";
import { createHandler } from "../../src/http/index.ts";
import {
  startSync,
  type ConnectionConfig,
  type ConnectionType,
  type SyncConfig,
} from "../../src/sync/index.ts";
import { isGenuine, subjectOf, type Delivery } from "../../src/sync/webhooks.ts";
import { quern } from "../cli/terminal.ts";
import { tellFigure } from "../figures.ts";
import { SLOWNESS } from "../slowness.ts";
import { nameOf, openPlace, remotePath, type AnyKind } from "./every-host.ts";
import { serveGitHub } from "./github-server.ts";
import { commit, serveRemotes } from "./remotes.ts";
import { openWorkplace } from "./workplace.ts";
import { someOf } from "../runs.ts";

const SECRET = "webhook-secret-0123";
const KEY = Buffer.from("0123456789abcdef0123456789abcdef");
const SIGNING = `whsec_${KEY.toString("base64")}`;
const NOW = Date.parse("2026-01-01T00:00:00Z");
const BODY = `{"a":1}`;

const hex = (body = BODY, secret = SECRET): string =>
  createHmac("sha256", secret).update(body).digest("hex");
const standard = (id: string, seconds: number, body = BODY): string =>
  `v1,${createHmac("sha256", KEY).update(`${id}.${seconds}.${body}`).digest("base64")}`;
const basicOf = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

const signed = (seconds: number, signature: string): Record<string, string> => ({
  "webhook-id": "m1",
  "webhook-timestamp": String(seconds),
  "webhook-signature": signature,
});
const NOW_S = NOW / 1_000;

test.each<[ConnectionType, string, Record<string, string>, boolean]>([
  ["github", SECRET, { "x-hub-signature-256": `sha256=${hex()}` }, true],
  ["github", SECRET, { "x-hub-signature-256": hex() }, false],
  ["github", SECRET, { "x-hub-signature-256": `sha256=${hex(BODY, "other")}` }, false],
  ["github", SECRET, { "x-hub-signature-256": `sha256=${hex("{}")}` }, false],
  ["github", SECRET, { "x-hub-signature": `sha256=${hex()}` }, false],
  ["github", SECRET, { "x-hub-signature-256": "" }, false],
  ["github", SECRET, {}, false],
  ["bitbucket", SECRET, { "x-hub-signature": `sha256=${hex()}` }, true],
  ["bitbucket", SECRET, { "x-hub-signature": `sha256=${hex("{}")}` }, false],
  ["bitbucket", SECRET, { "x-hub-signature-256": `sha256=${hex()}` }, false],
  ["gitea", SECRET, { "x-gitea-signature": hex() }, true],
  ["gitea", SECRET, { "x-forgejo-signature": hex() }, true],
  ["gitea", SECRET, { "x-gitea-signature": hex("{}") }, false],
  ["gitea", SECRET, {}, false],
  ["gitlab", SECRET, { "x-gitlab-token": SECRET }, true],
  ["gitlab", SECRET, { "x-gitlab-token": "other" }, false],
  ["gitlab", SECRET, {}, false],
  ["gitlab", SIGNING, signed(NOW_S, standard("m1", NOW_S)), true],
  ["gitlab", SIGNING, signed(NOW_S - 299, standard("m1", NOW_S - 299)), true],
  ["gitlab", SIGNING, signed(NOW_S, `v1,AAAA ${standard("m1", NOW_S)}`), true],
  ["gitlab", SIGNING, signed(NOW_S - 301, standard("m1", NOW_S - 301)), false], // replayed later
  ["gitlab", SIGNING, signed(NOW_S + 301, standard("m1", NOW_S + 301)), false],
  ["gitlab", SIGNING, signed(NOW_S, standard("m1", NOW_S - 301)), false], // replayed with a new time
  ["gitlab", SIGNING, signed(NOW_S, standard("m2", NOW_S)), false],
  ["gitlab", SIGNING, signed(NOW_S, standard("m1", NOW_S, "{}")), false],
  ["gitlab", SIGNING, { "x-gitlab-token": SIGNING }, false], // a signing token never travels
  ["gitlab", SIGNING, {}, false],
  ["azuredevops", SECRET, { authorization: basicOf("quern", SECRET) }, true],
  ["azuredevops", SECRET, { authorization: basicOf("other", SECRET) }, false],
  ["azuredevops", SECRET, { authorization: basicOf("quern", "other") }, false],
  ["azuredevops", SECRET, {}, false],
  ["gerrit", SECRET, { authorization: basicOf("quern", SECRET) }, false],
  ["git", SECRET, { "x-hub-signature-256": `sha256=${hex()}` }, false],
  ["folder", SECRET, {}, false],
])("a delivery from %s with %s and %j is genuine: %s", async (type, secret, headers, genuine) => {
  const delivery = { headers: new Headers(headers), body: Buffer.from(BODY) };
  expect(await isGenuine(type, delivery, { secret, username: "quern" }, NOW)).toBe(genuine);
});

const delivery = (headers: Record<string, string>, body: unknown): Delivery => ({
  headers: new Headers(headers),
  body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
});
const FORM = { "content-type": "application/x-www-form-urlencoded" };

test.each<[ConnectionType, Record<string, string>, unknown, string]>([
  ["github", { "x-github-event": "push" }, { repository: { id: 7 } }, "7"],
  [
    "github",
    { "x-github-event": "push", ...FORM },
    `payload=${encodeURIComponent(`{"repository":{"id":7}}`)}`,
    "7",
  ],
  ["github", { "x-github-event": "delete" }, { repository: { id: 7 } }, "7"],
  ["github", { "x-github-event": "repository" }, { repository: { id: 7 } }, "connection"],
  ["github", { "x-github-event": "ping" }, { repository: { id: 7 } }, "nothing"],
  ["github", { "x-github-event": "push" }, {}, "nothing"],
  ["github", { "x-github-event": "push" }, "not JSON", "nothing"],
  ["github", { "x-github-event": "push" }, { repository: { id: { $gt: 1 } } }, "nothing"],
  ["gitea", { "x-gitea-event": "push" }, { repository: { id: 7 } }, "7"],
  ["gitea", { "x-forgejo-event": "create" }, { repository: { id: 7 } }, "7"],
  ["gitea", { "x-gitea-event": "repository" }, { repository: { id: 7 } }, "connection"],
  ["gitea", { "x-gitea-event": "issues" }, { repository: { id: 7 } }, "nothing"],
  ["gitlab", {}, { object_kind: "push", project_id: 7 }, "7"],
  ["gitlab", {}, { object_kind: "tag_push", project_id: 7 }, "7"],
  ["gitlab", {}, { event_name: "repository_update", project_id: 7 }, "7"],
  ["gitlab", {}, { event_name: "project_rename", project_id: 7 }, "connection"],
  ["gitlab", {}, { object_kind: "note", project_id: 7 }, "nothing"],
  ["bitbucket", { "x-event-key": "repo:push" }, { repository: { uuid: "{7}" } }, "{7}"],
  ["bitbucket", { "x-event-key": "repo:updated" }, {}, "connection"],
  ["bitbucket", { "x-event-key": "repo:commit_comment_created" }, {}, "nothing"],
  ["bitbucket", { "x-event-key": "pullrequest:updated" }, {}, "nothing"],
  ["azuredevops", {}, { eventType: "git.push", resource: { repository: { id: "7" } } }, "7"],
  [
    "azuredevops",
    {},
    { eventType: "git.repo.created", resource: { repository: { id: "7" } } },
    "connection",
  ],
  ["azuredevops", {}, { eventType: "workitem.created", resource: {} }, "nothing"],
  ["gerrit", {}, {}, "nothing"],
])("a delivery from %s with %j and %j is about %s", async (type, headers, body, about) => {
  const subject = await subjectOf(type, delivery(headers, body));
  expect(subject.kind === "repository" ? subject.id : subject.kind).toBe(about);
});

async function setUp() {
  const remotes = await serveRemotes();
  const github = serveGitHub(remotes);
  const workplace = await openWorkplace();
  for (const name of ["shop", "ledger"])
    commit(remotes.root, `acme/${name}`, { "a.ts": "first\n" });
  github.repositories = [
    { id: 1, full_name: "acme/shop" },
    { id: 2, full_name: "acme/ledger", private: true },
  ];
  const silent: ConnectionConfig = {
    type: "github",
    url: remotes.url,
    orgs: ["acme"],
    token: { env: "TOKEN" },
  };
  const connections = { work: { ...silent, webhook: { secret: { env: "HOOK" } } } };
  const env = { TOKEN: github.token, HOOK: SECRET };
  return { remotes, workplace, connections, silent, env };
}

/** Returns a push to the repository with this id, as GitHub sends it. */
function push(id: number, secret = SECRET): RequestInit {
  const body = JSON.stringify({ ref: "refs/heads/main", repository: { id } });
  const headers = {
    "content-type": "application/json",
    "x-github-event": "push",
    "x-hub-signature-256": `sha256=${hex(body, secret)}`,
  };
  return { method: "POST", headers, body };
}

test("a push syncs its repository once, even if it is delivered often, and connections are listed", async () => {
  const { remotes, workplace, connections, env } = await setUp();
  const { engine } = workplace;
  let runs = 0;
  const errors: Error[] = [];
  const service = startSync(
    engine,
    { connections },
    {
      env,
      onReport: () => void runs++,
      onError: (error) => void errors.push(error),
    },
  );
  onTestFinished(() => service[Symbol.asyncDispose]());
  const { connections: listed, webhook } = service;
  const handler = createHandler(engine, { anonymous: "public", connections: listed, webhook });
  const send = async (path: string, init: RequestInit) => {
    const response = await handler(new Request(`http://host/api/webhook/${path}`, init));
    return [response.status, ((await response.json()) as { status?: string }).status];
  };
  await expect.poll(() => runs).toBe(1);
  const answer = await handler(new Request("http://host/api/connections"));
  expect(await answer.json()).toEqual([{ id: 1, name: "work", connectionType: "github" }]);

  commit(remotes.root, "acme/shop", { "a.ts": "second\n" });
  remotes.requests.length = 0;
  for (let again = 0; again < 20; again++)
    expect(await send("work", push(1))).toEqual([202, "queued"]);
  await expect.poll(() => workplace.find("second")).toEqual(["127.0.0.1/acme/shop"]);
  await expect.poll(() => runs).toBe(2);
  expect(remotes.requests.filter((line) => line.includes("/ledger"))).toEqual([]);
  expect(remotes.requests.filter((line) => line.includes("/api/v3/repos/acme/shop"))).toHaveLength(
    1,
  );
  expect(errors).toEqual([]);
});

test("bad signatures and unknown connections get the same answer, and do nothing", async () => {
  const { workplace, connections, silent, env } = await setUp();
  const { engine } = workplace;
  const service = startSync(engine, { connections: { ...connections, silent } }, { env });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const handler = createHandler(engine, { anonymous: "all", webhook: service.webhook });
  const send = (path: string, init: RequestInit) =>
    handler(new Request(`http://host/api/webhook/${path}`, init));
  const refused = await send("work", push(1, "another secret"));
  const text = await refused.text();
  expect(refused.status).toBe(401);
  for (const path of ["nothing", "silent", "__proto__", "constructor"]) {
    const response = await send(path, push(1));
    expect([response.status, await response.text()]).toEqual([401, text]);
  }
  const { headers } = push(1);
  const large = await send("work", {
    method: "POST",
    headers: headers!,
    body: "x".repeat(5 << 20),
  });
  expect(large.status).toBe(413);
  const ping = {
    ...push(1),
    headers: { ...(headers as Record<string, string>), "x-github-event": "ping" },
  };
  expect((await send("work", ping)).status).toBe(202);
  expect((await send("work", { method: "GET" })).status).toBe(405);
  const document = await handler(new Request("http://host/api/openapi.json"));
  const { paths } = (await document.json()) as { paths: Record<string, { post?: object }> };
  expect(Object.keys(paths["/api/webhook/{connection}"]!.post!)).toContain("responses");
  const without = createHandler(engine, { anonymous: "all" });
  expect((await without(new Request("http://host/api/webhook/work", push(1)))).status).toBe(404);
});

test("quern serve --sync serves and syncs in one process", async () => {
  const { remotes, workplace, connections, env } = await setUp();
  const { folder } = workplace;
  const file = join(folder, "quern.json");
  writeFileSync(file, JSON.stringify({ connections }));
  const stop = new AbortController();
  const db = join(folder, "served");
  let url = "";
  const onOutput = (text: string) => void (url ||= /"url":"([^"]+)"/.exec(text)?.[1] ?? "");
  const args = [
    "serve",
    "--db",
    db,
    "--port",
    "0",
    "--json",
    "--anonymous",
    "public",
    "--sync",
    file,
  ];
  const ended = quern(args, { env, signal: stop.signal, onOutput });
  onTestFinished(() => stop.abort());
  await expect.poll(() => url).not.toBe("");
  const found = async (query: string): Promise<string[]> => {
    const body = JSON.stringify({ query, matches: 10 });
    const response = await fetch(`${url}/api/search`, { method: "POST", body });
    const { files } = (await response.json()) as { files: { repository: string }[] };
    return files.map(({ repository }) => repository);
  };
  await expect.poll(() => found("first")).toEqual(["127.0.0.1/acme/shop"]); // the other repository is private
  commit(remotes.root, "acme/shop", { "a.ts": "second\n" });
  const told = await fetch(`${url}/api/webhook/work`, push(1));
  expect(told.status).toBe(202);
  await expect.poll(() => found("second")).toEqual(["127.0.0.1/acme/shop"]);
  const response = await fetch(`${url}/api/repos?connectionId=1`);
  expect(await response.json()).toHaveLength(1);
  stop.abort();
  expect(await ended).toMatchObject({ code: 0 });
});

/** A push to the second repository, as each host sends it, with its signature. */
type HookKind = Exclude<AnyKind, "gerrit">;
const uuid = "00000002-1111-2222-3333-444444444444";
const PUSHES: Readonly<Record<HookKind, { body: object; proof: (body: string) => object }>> = {
  github: {
    body: { repository: { id: 2 } },
    proof: (body) => ({ "x-github-event": "push", "x-hub-signature-256": `sha256=${hex(body)}` }),
  },
  gitlab: {
    body: { object_kind: "push", project_id: 2 },
    proof: (body) => {
      const seconds = Math.floor(Date.now() / 1_000);
      return signed(seconds, standard("m1", seconds, body));
    },
  },
  gitea: {
    body: { repository: { id: 2 } },
    proof: (body) => ({ "x-gitea-event": "push", "x-gitea-signature": hex(body) }),
  },
  bitbucket: {
    body: { repository: { uuid: `{${uuid}}` } },
    proof: (body) => ({ "x-event-key": "repo:push", "x-hub-signature": `sha256=${hex(body)}` }),
  },
  azuredevops: {
    body: { eventType: "git.push", resource: { repository: { id: uuid } } },
    proof: () => ({ authorization: basicOf("quern", SECRET) }),
  },
};

test.each(someOf(Object.keys(PUSHES) as HookKind[], 3))(
  "%s: a push is obeyed, one with an invalid proof is rejected, and a repeated one changes nothing",
  async (kind) => {
    const { remotes, workplace, connection, env } = await openPlace(kind);
    const webhook = { secret: { env: "HOOK" } };
    const connections = { work: { ...connection, webhook } } as SyncConfig["connections"];
    const secret = kind === "gitlab" ? SIGNING : SECRET;
    let runs = 0;
    const onReport = () => void runs++;
    const options = { env: { ...env, HOOK: secret }, onReport };
    const service = startSync(workplace.engine, { connections }, options);
    onTestFinished(() => service[Symbol.asyncDispose]());
    const handler = createHandler(workplace.engine, { anonymous: "all", webhook: service.webhook });
    await expect.poll(() => runs).toBe(1);
    commit(remotes.root, remotePath(kind, "three"), { "a.ts": "second\n" });
    remotes.requests.length = 0;
    const { body: told, proof } = PUSHES[kind];
    const body = JSON.stringify(told);
    const send = async (headers: object, text = body): Promise<number> => {
      const init = {
        method: "POST",
        headers: { ...headers } as Record<string, string>,
        body: text,
      };
      return (await handler(new Request("http://host/api/webhook/work", init))).status;
    };
    const good = proof(body);
    const bad = kind === "azuredevops" ? { authorization: basicOf("quern", "other") } : good;
    expect(await send(bad, `${body} `)).toBe(401); // this body was not signed
    expect(await send({})).toBe(401);
    expect(await workplace.find("second")).toEqual([]);
    for (let again = 0; again < 5; again++) expect(await send(good)).toBe(202);
    const name = nameOf(kind, "three");
    await expect.poll(() => workplace.find("second")).toEqual([name]);
    await expect.poll(() => runs).toBe(2);
    const repositories = remotes.requests.filter((line) => line.includes("/info/refs"));
    expect(repositories).toHaveLength(2); // its references and the fetch, and no other repository
    expect(repositories.every((line) => line.includes(remotePath(kind, "three")))).toBe(true);
  },
);

// These tests make the process large, and starting git takes several times as long in a large process, so they come last.

const MOST_BODY = 4 * 2 ** 20;
const LONG_ID = `{"repository":{"id":"${"x".repeat(MOST_BODY - 100)}"}}`;
const escaped = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16)}`).join("");
const LARGE: [what: string, body: Buffer, isForm: boolean][] = [
  ["nested lists that do not end", Buffer.alloc(MOST_BODY, "["), false],
  [
    "nested lists that end",
    Buffer.from("[".repeat(MOST_BODY / 2) + "]".repeat(MOST_BODY / 2)),
    false,
  ],
  ["objects", Buffer.from(`[${'{"a":1},'.repeat(MOST_BODY / 9)}1]`), false],
  ["an id", Buffer.from(LONG_ID), false],
  ["bytes that are not text", Buffer.alloc(MOST_BODY, 0xff), false],
  ["a form's id", Buffer.from(`payload=${LONG_ID}`), true],
  ["a form's escapes", Buffer.from(`payload=${escaped(LONG_ID.slice(-MOST_BODY / 3))}`), true],
  ["a form's percents", Buffer.from(`payload=${"%".repeat(MOST_BODY - 8)}`), true],
  ["a form's fields", Buffer.from("a=%41&".repeat(MOST_BODY / 6)), true],
  ["a form without a field", Buffer.alloc(MOST_BODY, "&payload"), true],
];
const HOSTS: ConnectionType[] = ["github", "gitlab", "gitea", "bitbucket", "azuredevops", "gerrit"];
/** The limit of milliseconds of the caller's thread in a turn. The documented limit is 5, but this machine may be slow. */
const MOST_TURN_MS = 8 * SLOWNESS;
const MOST_WORK_MS = 150 * SLOWNESS;
const TRIES = 5;

test.each(HOSTS.flatMap((host) => LARGE.map((row) => [host, ...row] as const)))(
  "%s: four megabytes of %s, genuine or forged, take little time",
  async (host, what, body, isForm) => {
    const headers = {
      "x-github-event": "push",
      "x-gitea-event": "push",
      "x-event-key": "repo:push",
      ...(isForm && FORM),
    };
    const seconds = NOW / 1_000;
    const proof = {
      "x-hub-signature-256": `sha256=${"0".repeat(64)}`,
      "x-gitea-signature": hex(),
      ...signed(seconds, standard("m1", seconds)),
    };
    const given = { headers: new Headers({ ...headers, ...proof }), body };
    const secret = host === "gitlab" ? SIGNING : SECRET;
    let [turn, work] = [Infinity, Infinity];
    for (let left = TRIES; left > 0 && (turn > MOST_TURN_MS || work > MOST_WORK_MS); left--) {
      const stalls = watchStalls();
      const before = process.cpuUsage();
      expect(await isGenuine(host, given, { secret, username: "quern" }, NOW)).toBe(false);
      const subject = await subjectOf(host, given);
      const isRead = what.endsWith(" id") && ["github", "gitea"].includes(host);
      expect(subject.kind).toBe(isRead ? "repository" : "nothing");
      const { user, system } = process.cpuUsage(before);
      turn = Math.min(turn, (await stalls()).ownMs);
      work = Math.min(work, (user + system) / 1_000);
    }
    tellFigure(`${host} ${what}: ${turn.toFixed(1)} ms a turn, ${work.toFixed(0)} ms of work`);
    expect(turn).toBeLessThan(MOST_TURN_MS);
    expect(work).toBeLessThan(MOST_WORK_MS);
  },
);
