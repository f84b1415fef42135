/** Repositories that the corpus lacks: large files, and names and contents with markup. */

import { execFile } from "node:child_process";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { documents, type Source } from "../../src/index.ts";

/** The lines of a file just below 2 MiB, the limit for indexed files. */
export const LARGE_LINES = 35_000;

const largeText = Array.from(
  { length: LARGE_LINES },
  (_, i) => `export const value${i} = compute(${i}, "text"); // ${i}\n`,
).join("");

export const large = (): Source =>
  documents({ name: "large", files: [{ path: "large.ts", content: largeText }] });

export const RTL = "\u202e";
/** A hostile name that git accepts for a branch. */
export const HOSTILE_BRANCH = `<img/src=x/onerror=alert(1)>${RTL}`;
export const MARKUP = "<img src=x onerror=alert(1)>";

export const hostile = (): Source =>
  documents({
    name: `evil/${MARKUP}`,
    displayName: `${MARKUP}${RTL}`,
    files: [
      { path: `${MARKUP}.js`, content: `const needle = "<script>alert(1)</script>${MARKUP}";\n` },
      { path: `src/a${RTL}gpj.js`, content: `// ${RTL} needle\nfunction needle() {}\n` },
      { path: "javascript:alert(1)", content: "needle </pre></textarea><svg onload=alert(1)>\n" },
      { path: "README.md", content: `# needle ${MARKUP} [x](javascript:alert(1))\n` },
      // keys are definitions
      { path: "keys.json", content: `{ "${MARKUP}${RTL}needle": { "</script>": 1 } }\n` },
    ],
  });

/** Makes a clone in which every text of a commit contains markup. Resolves to the folder. */
export async function hostileHistory(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const git = (...args: string[]) => promisify(execFile)("git", ["-C", folder, ...args]);
  const author = ["-c", `user.name=${MARKUP}${RTL}`, "-c", "user.email=<script>@example.com"];
  const commit = (message: string) => git(...author, "commit", "-q", "-a", "-m", message);
  await git("init", "-q", "-b", "main");
  await writeFile(join(folder, `${MARKUP}${RTL}`), "one\ntwo\nthree\n<svg onload=alert(3)>\n");
  await git("add", ".");
  await commit("first");
  await rename(join(folder, `${MARKUP}${RTL}`), join(folder, "after.txt"));
  await writeFile(join(folder, "after.txt"), "one\ntwo\nthree\n<svg onload=alert(3)>\nfour\n");
  await git("add", "-A");
  await git("branch", HOSTILE_BRANCH);
  await commit(`${MARKUP} ${RTL}\n\n</pre><script>alert(2)</script>\nsecond line\nthird ${RTL}`);
  return folder;
}
