/** Repositories that the corpus does not have: large files, and names and contents that try to be markup. */

import { documents, type Source } from "../../src/index.ts";

/** Just below the limit of what is indexed, 2 MiB. */
export const LARGE_LINES = 35_000;

const largeText = Array.from(
  { length: LARGE_LINES },
  (_, i) => `export const value${i} = compute(${i}, "text"); // ${i}\n`,
).join("");

export const large = (): Source =>
  documents({ name: "large", files: [{ path: "large.ts", content: largeText }] });

export const RTL = "\u202e";
export const MARKUP = "<img src=x onerror=alert(1)>";

export const hostile = (): Source =>
  documents({
    name: `evil/${MARKUP}`,
    files: [
      { path: `${MARKUP}.js`, content: `const needle = "<script>alert(1)</script>${MARKUP}";\n` },
      { path: `src/a${RTL}gpj.js`, content: `// ${RTL} needle\nfunction needle() {}\n` },
      { path: "javascript:alert(1)", content: "needle </pre></textarea><svg onload=alert(1)>\n" },
      { path: "README.md", content: `# needle ${MARKUP} [x](javascript:alert(1))\n` },
    ],
  });
