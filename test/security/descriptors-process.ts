/**
 * Runs public calls in a process that may open few files. Before each call, all free file descriptors but some are
 * used up. The number of those that are left rises from 0 until the call succeeds several times. Prints one line of JSON
 * for each call. Arguments: the folder to work in, and the number of workers.
 */

import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  directory,
  documents,
  git,
  open,
  QuernError,
  watch,
  type Engine,
} from "../../src/index.ts";
import { createHandler, lmdbTokenStore } from "../../src/http/index.ts";
import { syncConnections } from "../../src/sync/index.ts";

const [folder, workers] = [process.argv[2]!, Number(process.argv[3])];

/** Uses up all free descriptors but `left`. Returns a function that frees them again. */
function useUp(left: number): () => void {
  const used: number[] = [];
  try {
    for (;;) used.push(openSync("/dev/null", "r"));
  } catch {
    for (const descriptor of used.splice(0, left)) closeSync(descriptor);
  }
  return () => {
    for (const descriptor of used) closeSync(descriptor);
  };
}

process.on("uncaughtException", (error) => {
  console.log(JSON.stringify({ call: "process", wrong: [String(error.stack)] }));
  process.exit(1);
});
process.on("unhandledRejection", (error) => {
  console.log(
    JSON.stringify({ call: "process", wrong: [`unhandled: ${String((error as Error).stack)}`] }),
  );
  process.exit(1);
});

const repository = join(folder, "repository");
const request = { query: "a", matches: 10 };
let opened = 0;

/** Opens the index to read, or a new directory. The same directory is tried again until it was opened. */
const openOne = (readOnly: boolean): Promise<Engine> =>
  open(join(folder, readOnly ? "index" : `new-${created}`), { workers, readOnly, warmUp: false });
let created = 0;

/** The name of the definition in the folder, and of the repository in which the next run indexes it. */
let name = "";
function writeDefinition(): void {
  name = `n${opened++}`;
  writeFileSync(join(folder, "files/a.py"), `def a${name}():\n  pass\n`);
}

/** The number of files that are not ignored. */
const FILES = 5;

/** Checks, once descriptors are free again, that a run has indexed the definition, and as many files. */
const isIndexed = (engine: Engine, count: number) => async () => {
  const { stats } = await engine.search({ query: `repo:^${name}$ sym:^a${name}$`, matches: 1 });
  if (stats.fileCount !== 1) throw new Error(`${stats.fileCount} definitions in ${name}`);
  const { skipped, revisions } = (await engine.repository(name))!;
  if (skipped.length > 0) throw new Error("skipped");
  if (revisions[0]!.files !== count) throw new Error(`${revisions[0]!.files} files in ${name}`);
};

/**
 * The calls. Each throws if it resolves to a wrong answer. A call may resolve to a check, which runs when descriptors are
 * free again.
 */
const CALLS: Readonly<Record<string, (engine: Engine) => Promise<unknown>>> = {
  "check()": async (engine) => {
    const { ok, problems } = await engine.check();
    if (!ok) throw new Error(JSON.stringify(problems));
  },
  "index(git())": async (engine) => {
    const name = `g${opened++}`;
    const [report] = await engine.index(git(repository, { name, history: true }));
    if (report!.revisions[0]!.files !== FILES) throw new Error(JSON.stringify(report));
    return async () => {
      const { stats } = await engine.search({ query: `repo:^${name}$ sym:^a$`, matches: 1 });
      if (stats.fileCount !== 1) throw new Error(`no definition in ${name}`);
    };
  },
  "index(directory())": async (engine) => {
    await engine.index(directory(join(folder, "files"), { name }));
    return isIndexed(engine, FILES);
  },
  "index(directory()) of a work tree": async (engine) => {
    const name = `d${opened++}`;
    const [report] = await engine.index(directory(repository, { name, git: true }));
    const { files } = report!.revisions[0]!;
    if (files !== FILES) throw new Error(`${files} files in ${name}`);
  },
  "index(documents())": async (engine) => {
    const content = `def a${name}():\n  pass\n`;
    await engine.index(documents({ name, files: [{ path: "a.py", content }] }));
    return isIndexed(engine, 1);
  },
  "remove()": async (engine) => {
    await engine.remove("absent");
  },
  "compact()": (engine) => engine.compact(),
  "search()": async (engine) => {
    const { files, isSearchExhaustive } = await engine.search(request);
    if (isSearchExhaustive && files.length === 0) throw new Error("nothing found");
  },
  "stream()": async (engine) => {
    for await (const event of engine.stream(request))
      if (
        event.type === "final" &&
        event.isSearchExhaustive &&
        event.accumulatedStats.fileCount === 0
      )
        throw new Error("nothing found");
  },
  "explain()": (engine) => engine.explain(request),
  "find()": async (engine) => {
    const { places } = await engine.find({ text: "pass" });
    if (places.length === 0) throw new Error("nothing found");
  },
  "definitionsOf()": async (engine) => {
    const { places } = await engine.definitionsOf({ symbol: "a" });
    if (places.length === 0) throw new Error("nothing found");
  },
  "search() of the history": async (engine) => {
    const { files } = await engine.search({ query: "type:diff def", matches: 1 });
    if (files.length === 0) throw new Error("nothing found");
  },
  "search() of unsaved text": async (engine) => {
    const overlay = [
      { repository: "first", path: `u${opened++}.py`, content: "def unsaved(): pass" },
    ];
    const { files } = await engine.search({ query: "sym:unsaved", matches: 1 }, { overlay });
    if (files.length === 0) throw new Error("nothing found");
  },
  "read()": async (engine) => {
    const file = await engine.read({ repository: "first", path: "a.py" });
    if (!file) throw new Error("no such file");
  },
  "list()": async (engine) => {
    if (!(await engine.list({ repository: "first", path: "" }))) throw new Error("no such folder");
  },
  "repositories()": (engine) => engine.repositories(),
  "history()": async (engine) => {
    const history = await engine.history("first");
    if (!history) throw new Error("no history");
    const { commits } = await history.commits({ limit: 1 });
    if (commits.length !== 1) throw new Error("no commits");
    await history.read({ path: "a.py" });
    await history.blame({ path: "a.py" });
  },
  "workspace()": async (engine) => {
    const own = `w${opened++}`;
    await using tree = await engine.workspace(join(folder, "files"), { name: own });
    const asked = { query: `repo:^${own}$ (a or log)`, matches: 10 };
    const { files, isSearchExhaustive } = await tree.search(asked);
    if (isSearchExhaustive && files.length !== FILES) throw new Error(`${files.length} files`);
  },
  "watch()": async (engine) => {
    await using _ = await watch(engine, [
      directory(join(folder, "files"), { name: `v${opened++}` }),
    ]);
  },
  "open() of a new directory": async () => {
    const fresh = await openOne(false);
    created++;
    await fresh.close();
  },
  "open() to read, and search()": async () => {
    await using reader = await openOne(true);
    const { files, isSearchExhaustive } = await reader.search(request);
    if (isSearchExhaustive && files.length === 0) throw new Error("nothing found");
  },
  "lmdbTokenStore()": async () => {
    const store = lmdbTokenStore(join(folder, `tokens-${opened++}`));
    await store[Symbol.asyncDispose]();
  },
  "createHandler()": async (engine) => {
    const body = JSON.stringify(request);
    const headers = { "content-type": "application/json" };
    const url = "http://localhost/api/search";
    const asked = new Request(url, { method: "POST", headers, body });
    const response = await createHandler(engine, { anonymous: "all" })(asked);
    if (response.status !== 200 && response.status !== 503) throw new Error(await response.text());
  },
  "syncConnections()": async (engine) => {
    const at = join(folder, `sync-${opened++}`);
    const connections = { work: { type: "folder", path: join(folder, "clones") } } as const;
    const { connections: reports } = await syncConnections(engine, { connections }, { folder: at });
    for (const { problems } of reports) if (problems[0]) throw new Error(problems[0].message);
  },
};

const ENOUGH = 3;
const MOST = 60;

const engine = await open(join(folder, "index"), { workers, warmUp: false });
await engine.index(git(repository, { name: "first", history: true }));
for (const [call, run] of Object.entries(CALLS)) {
  const wrong: string[] = [];
  const codes = new Set<string>();
  let successes = 0;
  let left = 0;
  for (; successes < ENOUGH && left < MOST; left++) {
    writeDefinition();
    const free = useUp(left);
    let check: unknown;
    try {
      check = await run(engine);
      successes++;
    } catch (error) {
      successes = 0;
      if (error instanceof QuernError) codes.add(`${error.code} ${error.message.slice(0, 50)}`);
      else wrong.push(`${left} left: ${String((error as Error).stack)}`);
    } finally {
      free();
    }
    try {
      if (typeof check === "function") await (check as () => Promise<void>)();
    } catch (error) {
      wrong.push(`${left} left, checked: ${String((error as Error).stack)}`);
    }
  }
  // once descriptors are free, the call works again, and nothing is damaged
  writeDefinition();
  try {
    await run(engine);
  } catch (error) {
    wrong.push(`afterwards: ${String((error as Error).stack)}`);
  }
  console.log(
    JSON.stringify({ call, left, successes, codes: [...codes], wrong: wrong.slice(0, 3) }),
  );
}
const { ok, problems } = await engine.check();
if (!ok) console.log(JSON.stringify({ call: "at the end", wrong: problems }));
await engine.close();
