/** Implements quern repos, read and remove. */

import type { Command } from "commander";
import { nearestWord } from "../base/edit-distance.ts";
import type { Engine } from "../engine.ts";
import type { Repository } from "../repository.ts";
import {
  type Call,
  type CommonFlags,
  lockOptions,
  type WaitFlags,
  withCommonOptions,
  withWait,
} from "./call.ts";
import { withEngine } from "./engine-session.ts";
import { printJson, printLines } from "./io.ts";
import { bytes, count, table, visible } from "./style.ts";

export function addRepositories(program: Command, call: Call): void {
  const { io } = call;
  withCommonOptions(program.command("repos"))
    .summary("list the indexed repositories")
    .description("List the indexed repositories. Exits with 1 if there are none.")
    .action((flags: CommonFlags) =>
      withEngine(io, { db: flags.db, readOnly: true }, async (engine) => {
        const repositories = await engine.repositories();
        if (flags.json) printJson(io, repositories);
        else printLines(io.stdout, table(repositories.map(rowOf)));
        call.exit(repositories.length > 0 ? 0 : 1);
      }),
    );
}

function rowOf(repository: Repository): string[] {
  const { name, revisions, contentBytes, skipped, state, indexedAt } = repository;
  const files = revisions.find(({ isDefault }) => isDefault)?.files ?? 0;
  return [
    visible(name),
    count(files, "file"),
    bytes(contentBytes),
    indexedAt.toISOString().slice(0, 16).replace("T", " "),
    visible(revisions.map((revision) => revision.name).join(", ")),
    ...(skipped.length > 0 ? [`${skipped.length} not searchable`] : []),
    ...(state === "indexing" ? ["being indexed"] : []),
  ];
}

export function addRead(program: Command, call: Call): void {
  const { io } = call;
  withCommonOptions(program.command("read"))
    .summary("print a file")
    .description("Print a file as it was indexed. Exits with 1 if it does not exist.")
    .argument("<repository>")
    .argument("<path>")
    .option("--rev <revision>", "revision; default: the repository's default revision")
    .action((repository: string, path: string, flags: CommonFlags & { rev?: string }) =>
      withEngine(io, { db: flags.db, readOnly: true }, async (engine) => {
        const { rev: revision } = flags;
        const file = await engine.read({ repository, path, ...(revision && { revision }) });
        call.exit(file ? 0 : 1);
        if (!file) {
          const what = await whatIsMissing(engine, { repository, path, revision });
          return void io.stderr.write(`quern: ${visible(what)}\n`);
        }
        const { bytes: content, ...described } = file;
        if (flags.json) printJson(io, described);
        else io.stdout.write(io.stdout.isTTY ? visible(file.content) : content);
      }),
    );
}

interface Wanted {
  readonly repository: string;
  readonly path: string;
  readonly revision: string | undefined;
}

/** Says which of repository, revision and path does not exist, and names a similar one that does. */
async function whatIsMissing(
  engine: Engine,
  { repository, path, revision }: Wanted,
): Promise<string> {
  const known = await engine.repository(repository);
  if (!known) {
    const names = (await engine.repositories()).map(({ name }) => name);
    return `there is no repository ${repository}${orNear(repository, names, "; quern repos lists them")}`;
  }
  const names = known.revisions.map(({ name }) => name);
  if (revision !== undefined && !names.includes(revision))
    return `${repository} has no indexed revision ${revision}${orNear(revision, names, `; it has ${names.join(", ")}`)}`;
  const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  const siblings = await engine.list({ repository, path: folder, ...(revision && { revision }) });
  const paths = (siblings ?? []).map((entry) => entry.path);
  return `${repository} has no file ${path}${orNear(path, paths, "")}`;
}

function orNear(word: string, words: readonly string[], otherwise: string): string {
  const near = nearestWord(word, words);
  return near === undefined ? otherwise : `; did you mean ${near}?`;
}

export function addRemove(program: Command, call: Call): void {
  const { io } = call;
  withWait(withCommonOptions(program.command("remove")))
    .summary("remove a repository from the index")
    .description("Remove a repository from the index. Exits with 1 if there is none of that name.")
    .argument("<repository>")
    .action((repository: string, flags: CommonFlags & WaitFlags) =>
      withEngine(io, { db: flags.db, ...lockOptions(flags) }, async (engine) => {
        const removed = await engine.remove(repository);
        call.exit(removed ? 0 : 1);
        if (flags.json) printJson(io, { removed });
        else if (!removed) io.stderr.write(`quern: ${repository} is not indexed\n`);
      }),
    );
}
