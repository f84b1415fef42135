/** Failures with each code host: limits, redirects, silence, names that change and collide, tokens that leak. */

import { expect, test } from "vitest";
import type { SyncProgress } from "../../src/sync/index.ts";
import { ALL_KINDS, NAMES, nameOf, openPlace, pathOf, remotePath } from "./every-host.ts";
import { commandLines, filesWith, holds } from "./leaks.ts";
import { renameRepository, serveRemotes } from "./remotes.ts";
import { outcomes } from "./outcomes.ts";
import { STALL, watchSilence } from "./stalls.ts";
import { someOf } from "../runs.ts";

test.each(someOf(ALL_KINDS, 3))(
  "%s: a limit is waited for, a silent fetch fails alone, a name is had once, and nothing shows the token",
  async (kind) => {
    const { remotes, host, workplace, connection, env } = await openPlace(kind);
    let isLimited = true;
    host.before = (_, response) => {
      if (!isLimited) return false;
      isLimited = false;
      response.writeHead(429, { "retry-after": "1" }).end(`{"message":"${host.token}"}`);
      return true;
    };
    remotes.hanging.add(remotePath(kind, "two"));
    const { mayRead } = remotes;
    const processes: string[] = [];
    remotes.mayRead = (path, request) => {
      processes.push(commandLines());
      return mayRead(path, request);
    };
    const told: SyncProgress[] = [];
    const letSilencePass = watchSilence();
    const run = workplace.syncAll(
      {
        connections: { work: connection, again: { ...connection, exclude: { names: ["*/two"] } } },
        sync: STALL,
      },
      { env, onProgress: (progress) => void told.push(progress) },
    );
    const finished = () => told.filter(({ kind: what }) => what === "repository");
    await expect.poll(finished).toHaveLength(4); // all repositories except the silent one
    await letSilencePass();
    const report = await run;
    expect(told.filter(({ kind: what }) => what === "waiting")).toEqual([
      {
        kind: "waiting",
        connection: expect.any(String) as string,
        host: new URL(remotes.url).host,
        waitMs: 1_000,
      },
    ]);
    const [work, again] = report.connections.map((one) =>
      outcomes({ ...report, connections: [one] }),
    );
    expect(work).toEqual([
      `${nameOf(kind, "one")}: indexed`,
      `${nameOf(kind, "three")}: indexed`,
      expect.stringMatching(/two: failed: git ls-remote: the remote sent nothing for 1800 s/),
    ]);
    expect(again).toEqual([
      expect.stringContaining(
        `${nameOf(kind, "one")}: failed: ${pathOf(kind, "one")} would be called`,
      ),
      expect.stringContaining(
        `${nameOf(kind, "three")}: failed: ${pathOf(kind, "three")} would be called`,
      ),
    ]);
    expect(await workplace.find("needle")).toEqual(
      ["one", "three"].map((name) => nameOf(kind, name)),
    );
    expect(processes.some((lines) => lines.includes("git-remote-http"))).toBe(true);
    expect(processes.some((lines) => holds(lines, host.token))).toBe(false);
    expect(filesWith(workplace.folder, host.token)).toEqual([]);
    expect(holds(JSON.stringify([report, told]), host.token)).toBe(false);
  },
);

test.each(someOf(ALL_KINDS, 3, 1))(
  "%s: a renamed and a deleted repository are handled, and a redirect on the host is followed",
  async (kind) => {
    const { remotes, host, workplace, connection, env, list } = await openPlace(kind);
    await workplace.sync(connection, { env });
    expect(await workplace.names()).toEqual(NAMES.map((name) => nameOf(kind, name)));
    renameRepository(remotes.root, remotePath(kind, "three"), remotePath(kind, "drei"));
    list([
      { id: 1, path: pathOf(kind, "one"), private: true },
      { id: 2, path: pathOf(kind, "drei") },
    ]);
    host.before = ({ url }, response) => {
      const asked = new URL(url!, remotes.url);
      if (asked.searchParams.has("moved")) return false;
      asked.searchParams.set("moved", "1");
      response.writeHead(302, { location: asked.href }).end();
      return true;
    };
    const report = await workplace.syncAll(
      { connections: { work: connection }, sync: { removeAfter: "0s" } },
      { env },
    );
    const hasIds = kind !== "gerrit";
    expect(outcomes(report)).toEqual([
      `${nameOf(kind, "drei")}: indexed`,
      `${nameOf(kind, "one")}: unchanged`,
      ...(hasIds ? [] : [`${nameOf(kind, "three")}: removed`]),
      `${nameOf(kind, "two")}: removed`,
    ]);
    expect(await workplace.names()).toEqual(["drei", "one"].map((name) => nameOf(kind, name)));
    expect(await workplace.find("needle three")).toEqual([nameOf(kind, "drei")]);
  },
);

test.each(someOf(ALL_KINDS, 3))(
  "%s: a redirect to another host is reported, and gets no token",
  async (kind) => {
    const { remotes, host, workplace, connection, env } = await openPlace(kind);
    const elsewhere = await serveRemotes();
    const asked: unknown[] = [];
    elsewhere.interface = ({ headers }) => (asked.push(headers), false);
    host.before = (_, response) => {
      response.writeHead(302, { location: `${elsewhere.url}/x?token=${host.token}` }).end();
      return true;
    };
    const report = outcomes(await workplace.sync(connection, { env }));
    expect(report).toHaveLength(1);
    expect(report[0]).toContain(
      `redirects to ${elsewhere.url}/x, where the token must not be sent`,
    );
    expect(report[0]).toContain(remotes.url);
    expect(holds(report[0]!, host.token)).toBe(false);
    expect(asked).toEqual([]);
  },
);

test("github: a wrong token and a missing repository are reported", async () => {
  const { remotes, workplace, connection, env } = await openPlace("github");
  const refused = await workplace.sync(connection, { env: { TOKEN: "wrong-token-000" } });
  expect(outcomes(refused)).toEqual([
    `orgs: acme: ${remotes.url}/api/v3/orgs/acme/repos rejected the token with 401: it is missing, wrong or expired (Bad credentials)`,
  ]);
  const repos = ["acme/one", "acme/nothing"];
  const named = { type: "github" as const, url: remotes.url, repos, token: { env: "TOKEN" } };
  const report = await workplace.sync(named, { env });
  expect(outcomes(report)).toEqual([
    `repos: acme/nothing: there is no ${remotes.url}/api/v3/repos/acme/nothing (Not Found), or the token may not read it`,
    `${nameOf("github", "one")}: indexed`,
  ]);
});
