/**
 * Counts what a golden query finds. It scans every file with JavaScript's own RegExp and uses nothing of the engine. It
 * knows the parts of the query language that the golden queries need: branches joined by `or`, terms, quoted phrases,
 * `-(word)`, and the prefixes content, file, repo and lang, negated or not. Expressions must mean the same to
 * JavaScript (flags `gmu`) as to RE2.
 */

export interface CorpusFile {
  readonly repository: string;
  readonly path: string;
  /** The text. It is empty for binary files, which are found only by their path. */
  readonly text: string;
}

export interface Request {
  readonly query: string;
  readonly isRegexEnabled?: boolean;
  readonly isCaseSensitivityEnabled?: boolean;
}

export interface Counts {
  readonly totalMatchCount: number;
  readonly fileCount: number;
}

interface Atom {
  readonly target: "content" | "file" | "repo" | "lang";
  readonly negated: boolean;
  readonly value: string;
  readonly expression: RegExp;
}

type Range = readonly [start: number, end: number];

const EXTENSIONS: Readonly<Record<string, RegExp>> = {
  "c++": /\.(cpp|hpp)$/,
  go: /\.go$/,
  golang: /\.go$/,
  python: /\.py$/,
  py: /\.py$/,
  ruby: /\.rb$/,
  rust: /\.rs$/,
  swift: /\.swift$/,
  typescript: /\.ts$/,
};

export function countMatches(request: Request, files: readonly CorpusFile[]): Counts {
  const branches = parseQuery(request);
  const counts = files.map((file) => countInFile(branches, file)).filter((count) => count > 0);
  return { totalMatchCount: counts.reduce((sum, n) => sum + n, 0), fileCount: counts.length };
}

/** Decodes a file. UTF-16 with a byte order mark is text; any other file with a NUL near its start is binary. */
export function decode(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.subarray(2).toString("utf16le");
  return bytes.subarray(0, 8000).includes(0) ? "" : bytes.toString("utf8");
}

function parseQuery(request: Request): Atom[][] {
  const branches: Atom[][] = [[]];
  for (const word of request.query.match(/-\([^)]+\)|"[^"]*"|\S+/g) ?? []) {
    if (word === "or") branches.push([]);
    else branches.at(-1)?.push(parseAtom(word, request));
  }
  return branches;
}

function parseAtom(word: string, request: Request): Atom {
  const flags = request.isCaseSensitivityEnabled === true ? "gmu" : "gimu";
  const make = (target: Atom["target"], negated: boolean, value: string): Atom => {
    const isRegex = target !== "content" || request.isRegexEnabled === true;
    const source = isRegex ? value : value.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
    return { target, negated, value, expression: new RegExp(target === "lang" ? "" : source, flags) };
  };
  const prefix = /^(-?)(content|file|repo|lang):(.+)$/.exec(word);
  if (prefix !== null)
    return make(prefix[2] as Atom["target"], prefix[1] === "-", prefix[3] as string);
  if (request.isRegexEnabled !== true && word.startsWith("-("))
    return make("content", true, word.slice(2, -1));
  return make("content", false, word.startsWith('"') ? word.slice(1, -1) : word);
}

function countInFile(branches: readonly (readonly Atom[])[], file: CorpusFile): number {
  const holding = branches.filter((branch) => branch.every((atom) => holds(atom, file))).flat();
  if (holding.length === 0) return 0;
  const shown = holding.filter((atom) => !atom.negated);
  const rangesOf = (target: Atom["target"], text: string): number =>
    keepFirst(shown.filter((a) => a.target === target).flatMap((a) => occurrences(a, text))).length;
  return rangesOf("content", file.text) || rangesOf("file", file.path) || 1;
}

function holds(atom: Atom, file: CorpusFile): boolean {
  return matches(atom, file) !== atom.negated;
}

function matches(atom: Atom, file: CorpusFile): boolean {
  switch (atom.target) {
    case "content":
      return occurrences(atom, file.text).length > 0;
    case "file":
      return occurrences(atom, file.path).length > 0;
    case "repo":
      return occurrences(atom, file.repository).length > 0;
    case "lang": {
      const extension = EXTENSIONS[atom.value.toLowerCase()];
      if (extension === undefined) throw new Error(`lang:${atom.value} has no row here`);
      return extension.test(file.path);
    }
  }
}

function occurrences(atom: Atom, text: string): Range[] {
  return [...text.matchAll(atom.expression)].map((m) => [m.index, m.index + m[0].length]);
}

/** Sorts ranges by start, longer ones first, and drops those that overlap an earlier one. */
function keepFirst(ranges: readonly Range[]): Range[] {
  const kept: Range[] = [];
  for (const range of ranges.toSorted((a, b) => a[0] - b[0] || b[1] - a[1]))
    if (range[0] >= (kept.at(-1)?.[1] ?? 0)) kept.push(range);
  return kept;
}
