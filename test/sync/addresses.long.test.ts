/**
 * Only addresses of the configuration are asked. No answer of a code host, no redirect and no name of a repository can
 * send quern or git to another address, for instance one of the internal network.
 */

import { createServer, type AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { someOf } from "../runs.ts";
import { ALL_KINDS, NAMES, nameOf, openPlace, type AnyKind } from "./every-host.ts";
import { outcomes } from "./outcomes.ts";

/** Listens on an address that nobody may ask, and counts connections. */
async function forbidden(): Promise<{ readonly place: string; readonly asked: () => number }> {
  let asked = 0;
  const server = createServer((socket) => (asked++, socket.destroy()));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  return { place: `localhost:${(server.address() as AddressInfo).port}`, asked: () => asked };
}

/** The fields in which code hosts name addresses. */
const FIELDS =
  "clone_url git_url ssh_url html_url url web_url http_url_to_repo ssh_url_to_repo remoteUrl webUrl sshUrl web_links links".split(
    " ",
  );

/** Puts addresses of another place into every object of an answer. */
const led = (value: unknown, url: string): unknown => {
  if (Array.isArray(value)) return value.map((one) => led(one, url));
  if (typeof value !== "object" || value === null) return value;
  const own = Object.entries(value).map(([name, one]) => [name, led(one, url)] as const);
  const of = (name: string): unknown =>
    name === "links"
      ? { clone: [{ name: "https", href: url }], html: { href: url } }
      : name === "web_links"
        ? [{ name: "browse", url }]
        : url;
  return Object.fromEntries([...own, ...FIELDS.map((name) => [name, of(name)] as const)]);
};

const valuesLed = (map: Readonly<Record<string, unknown>>, url: string): unknown =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, led(value, url)]));

test.each(someOf(ALL_KINDS, 3, 2))(
  "%s: addresses in answers are not asked",
  async (kind: AnyKind) => {
    const { host, workplace, connection, env } = await openPlace(kind);
    const { place, asked } = await forbidden();
    let answers = 0;
    host.before = (_, response) => {
      const end = response.end.bind(response) as (body: string) => typeof response;
      response.end = ((body: string | Buffer = "") => {
        const [, prefix = "", json = ""] = /^(\)\]\}'\n)?([^]*)$/.exec(String(body))!;
        answers++;
        const value = JSON.parse(json) as Record<string, unknown>;
        const url = `http://${place}/x.git`;
        // Gerrit's answer is a map whose names are those of projects
        const answer = kind === "gerrit" ? valuesLed(value, url) : led(value, url);
        return end(prefix + JSON.stringify(answer));
      }) as typeof response.end;
      return false;
    };
    const report = await workplace.sync(connection, { env });
    expect(answers).toBeGreaterThan(0);
    expect(asked()).toBe(0);
    expect(outcomes(report)).toEqual(NAMES.map((name) => `${nameOf(kind, name)}: indexed`));
  },
);

test.each(someOf(ALL_KINDS, 3, 1))(
  "%s: no name of a repository is an address",
  async (kind: AnyKind) => {
    const { workplace, connection, env, list, remotes } = await openPlace(kind);
    const { place, asked } = await forbidden();
    list(
      [
        `@${place}/acme/x`,
        `//${place}/acme/x`,
        `\\\\${place}\\x`,
        `acme/x@${place}`,
        `http://${place}/acme/x`,
        `../../${place}/x`,
        `acme/x?://${place}/`,
        `acme/x#@${place}`,
        `-u${place}`,
        `ext::sh -c echo% ${place}`,
        `acme/x\n${place}/y`,
      ].map((path, n) => ({ id: n + 1, path })),
    );
    remotes.requests.length = 0;
    const report = await workplace.sync(connection, { env });
    expect(asked()).toBe(0);
    expect(remotes.requests.length).toBeGreaterThan(0);
    expect(outcomes(report).filter((line) => line.endsWith(": indexed"))).toEqual([]);
  },
);
