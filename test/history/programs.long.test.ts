/**
 * No call of a history runs a program that the repository's configuration names, or reads a file elsewhere that it
 * names.
 */

import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commit, git, repository, tempFolder } from "../ingest/listing.ts";
import { codeOf, openHistory } from "./opened.ts";

/** Keys that name a program. */
const PROGRAM_KEYS =
  "core.pager pager.log pager.blame pager.diff core.fsmonitor core.sshCommand core.editor core.askPass core.gitProxy core.alternateRefsCommand diff.external diff.evil.textconv diff.evil.command interactive.diffFilter filter.evil.smudge filter.evil.clean filter.evil.process merge.evil.driver gpg.program gpg.ssh.program remote.origin.uploadpack uploadpack.packObjectsHook trailer.x.command sequence.editor".split(
    " ",
  );
const SHELL_KEYS =
  "credential.helper alias.log alias.blame alias.shortlog alias.diff-tree alias.cat-file alias.ls-tree alias.rev-parse".split(
    " ",
  );
/** Keys that would run other programs, or change the answers. */
const OTHER_KEYS: Readonly<Record<string, string>> = {
  "log.showSignature": "true",
  "filter.evil.required": "true",
  "diff.evil.cachetextconv": "true",
  "remote.origin.promisor": "true",
  "extensions.partialClone": "origin",
  "blame.ignoreRevsFile": "no such file",
  "log.follow": "true",
  "color.ui": "always",
  "core.quotePath": "true",
  "diff.noprefix": "true",
  "diff.suppressBlankEmpty": "true",
};
const HOOKS = "post-index-change reference-transaction fsmonitor-watchman pre-auto-gc".split(" ");

function executable(path: string, marker: string): string {
  writeFileSync(path, `#!/bin/sh\ntouch '${marker}'\ncat "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Adds all these keys to the repository's configuration. After that, git itself would run some of the programs. */
function makeHostile(folder: string, marker: string): void {
  const program = executable(join(tempFolder(), "program"), marker);
  const hooks = join(folder, ".git", "hooks");
  for (const key of PROGRAM_KEYS) git(folder, "config", key, program);
  for (const key of SHELL_KEYS) git(folder, "config", key, `!${program}`);
  for (const [key, value] of Object.entries(OTHER_KEYS)) git(folder, "config", key, value);
  git(folder, "config", "remote.origin.url", `ext::${program}`);
  git(folder, "config", "core.hooksPath", hooks);
  for (const hook of HOOKS) executable(join(hooks, hook), marker);
}

/** Makes a commit with a signature, which git would check with a program. */
function signedCommit(folder: string): string {
  const [head = "", ...message] = git(folder, "cat-file", "commit", "HEAD").split("\n\n");
  const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----";
  const signed = head.replace(/^parent .*$/m, `parent ${git(folder, "rev-parse", "HEAD")}`);
  const path = join(tempFolder(), "commit");
  writeFileSync(path, `${signed}\n${signature}\n\n${message.join("\n\n")}\n`);
  const id = git(folder, "hash-object", "-t", "commit", "-w", path);
  git(folder, "update-ref", "refs/heads/signed", id);
  return id;
}

describe.skipIf(process.platform === "win32")("a hostile repository", () => {
  test("runs none of its programs", async () => {
    const folder = repository({
      "a.txt": "1\n",
      ".gitattributes": "*.txt diff=evil filter=evil\n",
    });
    commit(folder, { "a.txt": "2\n" });
    const marker = join(tempFolder(), "PWNED");
    const { history } = await openHistory(folder);
    const blob = git(folder, "rev-parse", "HEAD:a.txt");
    const base = git(folder, "rev-parse", "HEAD~1");
    const signed = signedCommit(folder);
    makeHostile(folder, marker);
    await history.commits({ path: "a.txt", author: "a", query: "m", since: "2020-01-01" });
    expect((await history.commits({ revision: signed })).total).toBe(3);
    expect((await history.authors({ path: "a.txt" })).total).toBe(1);
    const [changed] = await history.diff({ base, head: "HEAD" });
    expect(changed?.hunks[0]?.body).toBe("-1\n+2");
    expect((await history.blame({ path: "a.txt" }))?.ranges).toHaveLength(1);
    expect((await history.read({ path: "a.txt", revision: signed }))?.content).toBe("2\n");
    expect(await history.paths({ revision: signed })).toHaveLength(2);
    // a missing object of a repository that claims to be a partial clone is not fetched
    rmSync(join(folder, ".git", "objects", blob.slice(0, 2), blob.slice(2)));
    expect(await codeOf(history.read({ path: "a.txt", revision: signed }))).not.toBe("2\n");
    expect(await codeOf(history.blame({ path: "a.txt" }))).toBe(undefined);
    expect(await codeOf(history.diff({ base, head: "HEAD" }))).toBe("SOURCE_UNREADABLE");
    expect(existsSync(marker)).toBe(false);
  });

  test.each(["mailmap.file", "core.attributesFile"])(
    "has nothing read elsewhere by %s",
    async (key) => {
      const folder = repository({ "a.txt": "1\n", "b.txt": "1\n" });
      commit(folder, { "a.txt": "2\n", "b.txt": "2\n" });
      const { history } = await openHistory(folder);
      const all = async () => [
        await history.commits(),
        await history.authors(),
        await history.diff({ base: git(folder, "rev-parse", "HEAD~1"), head: "HEAD" }),
        await history.blame({ path: "a.txt" }),
      ];
      const before = await all();
      const elsewhere = join(tempFolder(), "elsewhere");
      const email = git(folder, "log", "-1", "--format=%ae");
      writeFileSync(elsewhere, `b.txt\nx <secret@example.com> <${email}>\n* binary\n`);
      git(folder, "config", key, elsewhere);
      expect(await all()).toEqual(before);
    },
  );

  test("would run them if git were called without protection", () => {
    const folder = repository({ "a.txt": "1\n", ".gitattributes": "*.txt diff=evil\n" });
    commit(folder, { "a.txt": "2\n" });
    const marker = join(tempFolder(), "RUN");
    makeHostile(folder, marker);
    // one of them makes git's command fail
    expect(() => git(folder, "log", "-p", "-1")).toThrow("aborted by hook");
    expect(existsSync(marker)).toBe(true);
  });
});
