/**
 * An editor's session: opens a folder, then obeys a line at a time, and searches the text as it is typed,
 * before anybody saves it.
 *
 *     npx tsx examples/editor.ts ~/projects/shop "discount"
 *
 *     open src/cart.ts      the file that is shown from now on
 *     type discount         types at its end; each key is a search
 *     save                  writes the file
 *     close                 what was not saved is forgotten
 */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { open, type Workspace } from "quern";

const [, , folder = ".", query = "todo"] = process.argv;

/** Where the query is found now, in the index, on the disk, and in what nobody has saved. */
async function find(tree: Workspace, signal?: AbortSignal): Promise<string> {
  const options = signal ? { signal } : {};
  const request = { query: `${query} repo:^${tree.repository}$`, matches: 10 };
  const { files, stats } = await tree.search(request, options);
  const names = files.map(({ fileName }) => fileName.text).sort();
  return `${stats.totalMatchCount} matches${names.length > 0 ? ` in ${names.join(", ")}` : ""}`;
}

class Session {
  readonly #tree: Workspace;
  #path: string | undefined;
  #text = "";
  /** A new key ends the search of the one before. */
  #stop = new AbortController();

  constructor(tree: Workspace) {
    this.#tree = tree;
  }

  async open(path: string): Promise<string> {
    this.#path = path;
    this.#text = await readFile(join(folder, path), "utf8");
    return `${path}: ${this.#text.length} characters`;
  }

  /** As keys come, faster than anybody reads answers: only that of the last one is shown. */
  async type(keys: string): Promise<string> {
    let shown = Promise.resolve("");
    for (const key of keys) {
      this.#text += key;
      this.#tree.set(this.#shown, this.#text);
      this.#stop.abort();
      this.#stop = new AbortController();
      shown = find(this.#tree, this.#stop.signal);
      shown.catch(() => undefined); // the next key has come
    }
    return shown;
  }

  async save(): Promise<string> {
    await writeFile(join(folder, this.#shown), this.#text);
    this.#tree.unset(this.#shown); // the disk says the same now
    return find(this.#tree);
  }

  async close(): Promise<string> {
    this.#tree.unset(this.#shown);
    this.#path = undefined;
    return find(this.#tree);
  }

  get #shown(): string {
    if (this.#path === undefined) throw new Error("open a file first");
    return this.#path;
  }
}

const engine = await open("./.quern");
const tree = await engine.workspace(folder, { onWarning: ({ message }) => console.error(message) });
const session = new Session(tree);
try {
  console.log(await find(tree));
  for await (const line of createInterface({ input: process.stdin })) {
    const [, order, rest = ""] = /^(\w+) ?(.*)$/.exec(line) ?? [];
    if (order === "open") console.log(await session.open(rest));
    else if (order === "type") console.log(await session.type(rest));
    else if (order === "save") console.log(await session.save());
    else if (order === "close") console.log(await session.close());
    else console.error("open PATH, type TEXT, save, close");
  }
} finally {
  await engine.close();
}
