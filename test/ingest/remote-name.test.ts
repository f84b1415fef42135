/** The name that a repository gets from its remote. */

import { expect, test } from "vitest";
import { remoteName } from "../../src/git/remote-name.ts";
import { remoteOf } from "../../src/ingest/sources/git.ts";
import { git as run, repository, tempFolder } from "./listing.ts";

test.each<[address: string, name: string | undefined]>([
  ["https://github.com/acme/docs.git", "github.com/acme/docs"],
  ["https://github.com/acme/docs", "github.com/acme/docs"],
  ["https://GitHub.com/acme/Docs/", "github.com/acme/Docs"],
  ["https://ada:secret@github.com/acme/docs.git", "github.com/acme/docs"],
  ["https://git.example.com:8443/acme/docs.git", "git.example.com/acme/docs"],
  ["git@github.com:acme/docs.git", "github.com/acme/docs"],
  ["github.com:acme/docs", "github.com/acme/docs"],
  ["ssh://git@git.example.com:2222/acme/docs.git", "git.example.com/acme/docs"],
  ["git://git.kernel.org/pub/scm/git/git.git", "git.kernel.org/pub/scm/git/git"],
  ["https://example.com/a%20b/c.git", "example.com/a b/c"],
  ["https://example.com/%zz", "example.com/%zz"],
  ["https://example.com/", undefined],
  ["file:///srv/git/docs.git", undefined],
  ["/srv/git/docs.git", undefined],
  ["../docs", undefined],
  ["./a:b", undefined],
  ["C:\\code\\docs", undefined],
  ["C:/code/docs", undefined],
  ["ext::sh -c evil", undefined],
  ["", undefined],
])("%j: %j", (address, name) => {
  expect(remoteName(address)).toBe(name);
});

const withRemotes = (...remotes: [name: string, address: string][]): string => {
  const folder = repository({ a: "1" });
  for (const [name, address] of remotes) run(folder, "remote", "add", name, address);
  return folder;
};

test.each<[string, string, string | undefined]>([
  ["no remote", withRemotes(), undefined],
  ["origin", withRemotes(["up", "https://a.org/x/y"], ["origin", "git@b.org:z.git"]), "b.org/z"],
  ["the only one", withRemotes(["up", "https://a.org/x/y"]), "a.org/x/y"],
  [
    "two, none is origin",
    withRemotes(["a", "https://a.org/x"], ["b", "https://b.org/x"]),
    undefined,
  ],
  ["a path", withRemotes(["origin", "/srv/git/x.git"]), undefined],
  ["no repository", tempFolder({ a: "1" }), undefined],
  ["no folder", "/nowhere/at/all", undefined],
])("the remote of a repository with %s", async (_, folder, name) => {
  expect(await remoteOf(folder)).toBe(name);
});

test("an address is returned as the configuration rewrites it", async () => {
  const folder = withRemotes(["origin", "gh:acme/docs"]);
  run(folder, "config", "url.https://github.com/.insteadOf", "gh:");
  expect(await remoteOf(folder)).toBe("github.com/acme/docs");
});

test("looking up a remote can be aborted", async () => {
  await expect(remoteOf(".", { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: "ABORTED",
  });
});
