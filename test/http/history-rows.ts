/** Histories, and files and folders of any revision. acme/open has a clone; the others have none. */

import { expect } from "vitest";
import { asks, gets, type Row } from "./rows.ts";

type Operation = [method: string, path: string];
const get = (path: string): Operation => ["get", path];

const REPO = "repo=acme/open";

/** Texts that are not names of revisions, as they appear in a URL. test/history/revisions.test.ts has more. */
const MALFORMED = ["", "--output=x", "a%00b"];
/** Names that no revision has, and expressions. */
const UNKNOWN = ["nope", "HEAD:README.md"];

/** Routes that answer 400 for a revision that does not exist. */
const STRICT: [path: string, rest: string, name: string][] = [
  ["/api/commits", REPO, "ref"],
  ["/api/commits/authors", REPO, "ref"],
  ["/api/diff", `${REPO}&head=HEAD`, "base"],
  ["/api/diff", `${REPO}&base=HEAD`, "head"],
];
const LOOSE: [path: string, rest: string, code: "NOT_FOUND" | "FILE_NOT_FOUND"][] = [
  ["/api/commit", REPO, "NOT_FOUND"],
  ["/api/blame", `${REPO}&path=README.md`, "FILE_NOT_FOUND"],
  ["/api/source", `${REPO}&path=README.md`, "FILE_NOT_FOUND"],
  ["/api/folder_contents", REPO, "NOT_FOUND"],
];

const refused = (path: string, query: string, status: number, code: Row["code"]): Row => ({
  name: `${path}?${query}`,
  operation: get(path),
  request: gets(`${path}?${query}`),
  status,
  code: code!,
});

const REVISION_ROWS: Row[] = [
  ...STRICT.flatMap(([path, rest, name]) =>
    [...MALFORMED, ...UNKNOWN].map((ref) =>
      refused(path, `${rest}&${name}=${ref}`, 400, "INVALID_GIT_REF"),
    ),
  ),
  ...LOOSE.flatMap(([path, rest, code]) => [
    ...MALFORMED.map((ref) => refused(path, `${rest}&ref=${ref}`, 400, "INVALID_GIT_REF")),
    ...UNKNOWN.map((ref) => refused(path, `${rest}&ref=${ref}`, 404, code)),
  ]),
  ...["/api/tree", "/api/files"].flatMap((path) =>
    [
      ["-x", 400, "INVALID_GIT_REF"] as const,
      ["a\nb", 400, "INVALID_GIT_REF"] as const,
      ["nope", 404, "NOT_FOUND"] as const,
      ["HEAD^", 404, "NOT_FOUND"] as const,
    ].map(([revisionName, status, code]): Row => ({
      name: `${path} of ${JSON.stringify(revisionName)}`,
      operation: ["post", path],
      request: asks(path, { repoName: "acme/open", revisionName, paths: [] }),
      status,
      code,
    })),
  ),
];

/** Queries for a repository that does not exist, and for one that has no history. */
const QUERIES: Record<string, string> = {
  "/api/commits": "",
  "/api/commit": "&ref=HEAD",
  "/api/commits/authors": "",
  "/api/diff": "&base=HEAD&head=HEAD",
  "/api/blame": "&path=x.txt",
};
const MISSING_ROWS: Row[] = Object.entries(QUERIES).flatMap(([path, rest]) => [
  refused(path, `repo=no/such${rest}`, 404, "REPOSITORY_NOT_FOUND"),
  {
    ...refused(path, `repo=acme/other${rest}`, 404, "HISTORY_NOT_AVAILABLE"),
    check: (body: { message: string }) =>
      expect(body.message).toMatch(/^acme\/other has no history here: it was not indexed from/),
  },
  refused(path, rest.slice(1), 400, "INVALID_REQUEST_BODY"),
]);

const hashes: string[] = [];
interface CommitBody {
  hash: string;
  message: string;
  authorName: string;
  author_name: string;
}

const COMMIT_ROWS: Row[] = [
  {
    name: "commits",
    operation: get("/api/commits"),
    request: gets(`/api/commits?${REPO}`),
    status: 200,
    check: (body: CommitBody[], headers) => {
      expect(body.map(({ message }) => message)).toEqual(["second", "first"]);
      expect(body[0]).toMatchObject({
        date: "2024-01-02T03:04:05+01:00",
        refs: "HEAD -> main, tag: v1",
        body: "",
        authorName: "Bob",
        author_name: "Bob",
        authorEmail: "bob@x",
        author_email: "bob@x",
      });
      expect(body[1]).toMatchObject({ body: "body\n", refs: "first" });
      expect(headers.get("x-total-count")).toBe("2");
      expect(headers.get("link")).toBe(null);
      hashes.push(...body.map(({ hash }) => hash));
    },
  },
  {
    name: "the second page of commits",
    operation: get("/api/commits"),
    request: gets(`/api/commits?${REPO}&ref=huge&page=2&perPage=1`),
    status: 200,
    check: (body: CommitBody[], headers) => {
      expect(body.map(({ message }) => message)).toEqual(["second"]);
      expect(headers.get("x-total-count")).toBe("3");
      expect(headers.get("link")).toMatch(
        /page=1.*"first".*page=1.*"prev".*page=3.*"next".*page=3.*"last"/,
      );
    },
  },
  ...(
    [
      ["path=lib", ["second", "first"]],
      ["path=lib/", ["second", "first"]],
      ["path=src", ["first"]],
      ["path=nope", []],
      ["author=BOB", ["second"]],
      ["author=^ada", ["first"]],
      ["query=SEC", ["second"]],
      ["query=bod", ["first"]],
      ["since=2024-01-03T00:00:00Z", []],
      ["until=2024-01-03T00:00:00Z", ["second", "first"]],
      ["page=9", []],
    ] as [string, string[]][]
  ).map(([query, want]): Row => ({
    name: `commits with ${query}`,
    operation: get("/api/commits"),
    request: gets(`/api/commits?${REPO}&${query}`),
    status: 200,
    check: (body: CommitBody[]) => expect(body.map(({ message }) => message)).toEqual(want),
  })),
  ...["path=../x", "since=whenever", "query=%5C(", "perPage=101", "page=0", "author=%5C1"].map(
    (query) => refused("/api/commits", `${REPO}&${query}`, 400, "INVALID_REQUEST_BODY"),
  ),
  {
    name: "one commit by a shortened id",
    operation: get("/api/commit"),
    request: async (service) => gets(`/api/commit?${REPO}&ref=${hashes[0]!.slice(0, 8)}`)(service),
    status: 200,
    check: (body: object) => expect(body).toMatchObject({ hash: hashes[0], parents: [hashes[1]] }),
  },
  {
    name: "authors",
    operation: get("/api/commits/authors"),
    request: gets(`/api/commits/authors?${REPO}&ref=huge&perPage=1`),
    status: 200,
    check: (body: object[], headers) => {
      expect(body).toEqual([{ name: "Ada", email: "ada@x", commitCount: 2 }]);
      expect(headers.get("x-total-count")).toBe("2");
      expect(headers.get("link")).toMatch(/page=2.*rel="next"/);
    },
  },
];

const DIFF_ROWS: Row[] = [
  {
    name: "a difference",
    operation: get("/api/diff"),
    request: gets(`/api/diff?${REPO}&base=first&head=v1`),
    status: 200,
    check: ({ files }: { files: { newPath: string; hunks: object[] }[] }) => {
      expect(files.map(({ newPath }) => newPath)).toEqual([
        "bin.dat",
        "lib/z.txt",
        "link",
        "vendor/module",
      ]);
      expect(files[0]).toEqual({ oldPath: null, newPath: "bin.dat", hunks: [] });
      const [oldRange, newRange] = [
        { start: 1, lines: 1 },
        { start: 1, lines: 2 },
      ];
      expect(files[1]?.hunks).toEqual([{ oldRange, newRange, body: " zzz\n+more" }]);
      expect(files[2]).toMatchObject({
        hunks: [{ body: "+README.md\n\\ No newline at end of file" }],
      });
    },
  },
  {
    name: "a difference in a folder",
    operation: get("/api/diff"),
    request: gets(`/api/diff?${REPO}&base=v1&head=first&path=lib`),
    status: 200,
    check: ({ files }: { files: object[] }) =>
      expect(files).toMatchObject([{ oldPath: "lib/z.txt", hunks: [{ body: " zzz\n-more" }] }]),
  },
  refused("/api/diff", `${REPO}&base=v1&head=huge`, 413, "FILE_TOO_LARGE"),
  refused("/api/diff", `${REPO}&base=v1`, 400, "INVALID_REQUEST_BODY"),
  {
    name: "blame",
    operation: get("/api/blame"),
    request: gets(`/api/blame?${REPO}&path=lib/z.txt`),
    status: 200,
    check: (body: object) => {
      const [second, first] = [hashes[0]!, hashes[1]!];
      const path = "lib/z.txt";
      expect(body).toEqual({
        ranges: [
          { hash: first, path, startLine: 1, lineCount: 1 },
          { hash: second, path, startLine: 2, lineCount: 1 },
        ],
        commits: {
          [first]: {
            hash: first,
            date: "2024-01-02T03:04:05+01:00",
            message: "first",
            authorName: "Ada",
            authorEmail: "ada@x",
          },
          [second]: expect.objectContaining({ previous: { hash: first, path } }) as object,
        },
      });
    },
  },
  ...["nope", "src", "../x", "vendor/module", ""].map((path) =>
    refused("/api/blame", `${REPO}&path=${path}`, 404, "FILE_NOT_FOUND"),
  ),
  refused("/api/blame", `${REPO}&path=huge.txt&ref=huge`, 413, "FILE_TOO_LARGE"),
];

const shown = (list: { type: string; path: string }[]) =>
  list.map(({ type, path }) => `${type} ${path}`);

const FILE_ROWS: Row[] = [
  ...(
    [
      ["lib/z.txt", "v1", "zzz\nmore\n"],
      ["lib/z.txt", "first", "zzz\n"],
      ["lib/z.txt", "HEAD", "zzz\n"], // as it is indexed
      ["link", "v1", "README.md"],
      ["link", "refs/heads/main", "README.md"],
    ] as const
  ).map(([path, ref, source]): Row => ({
    name: `the file ${path} of ${ref}`,
    operation: get("/api/source"),
    request: gets(`/api/source?${REPO}&path=${path}&ref=${ref}`),
    status: 200,
    check: (body: object) => expect(body).toMatchObject({ source, path, repo: "acme/open" }),
  })),
  refused("/api/source", `${REPO}&path=bin.dat&ref=v1`, 415, "BINARY_FILE"),
  refused("/api/source", `${REPO}&path=huge.txt&ref=huge`, 413, "FILE_TOO_LARGE"),
  refused("/api/source", `${REPO}&path=vendor/module&ref=v1`, 404, "FILE_NOT_FOUND"),
  refused("/api/source", `repo=acme/other&path=x.txt&ref=v1`, 404, "FILE_NOT_FOUND"),
  {
    name: "a tree of a revision that is not indexed",
    operation: ["post", "/api/tree"],
    request: asks("/api/tree", {
      repoName: "acme/open",
      revisionName: "v1",
      paths: ["vendor", "nope/x"],
    }),
    status: 200,
    check: ({
      tree,
    }: {
      tree: { children: { name: string; type: string; children: object[] }[] };
    }) => {
      expect(tree.children.map(({ name, type }) => `${type} ${name}`).join()).toBe(
        "tree lib,tree src,tree vendor,blob README.md,blob bin.dat,blob link",
      );
      expect(tree.children[2]?.children).toMatchObject([{ type: "commit", path: "vendor/module" }]);
    },
  },
  {
    name: "a tree of very many paths",
    operation: ["post", "/api/tree"],
    request: asks("/api/tree", {
      repoName: "acme/open",
      revisionName: "",
      paths: [
        ...Array.from({ length: 50_000 }, (_, n) => `x/${n}`),
        "a/".repeat(100_000),
        "src/deep",
      ],
    }),
    status: 200,
    check: ({ tree }: { tree: object }) => expect(JSON.stringify(tree)).toContain("src/deep/c.c"),
  },
  {
    name: "all paths of the indexed revision",
    operation: ["post", "/api/files"],
    request: asks("/api/files", { repoName: "acme/open", revisionName: "HEAD" }),
    status: 200,
    check: (body: { type: string; path: string }[]) =>
      expect(shown(body).join()).toBe(
        "blob lib/z.txt,blob src/deep/b.ts,blob src/deep/c.c,blob src/a.ts,blob README.md",
      ),
  },
  {
    name: "all paths of another",
    operation: ["post", "/api/files"],
    request: asks("/api/files", { repoName: "acme/open", revisionName: "v1" }),
    status: 200,
    check: (body: { type: string; path: string }[]) =>
      expect(shown(body).join()).toBe(
        "blob README.md,blob bin.dat,blob lib/z.txt,blob link,blob src/a.ts,blob src/deep/b.ts,blob src/deep/c.c,commit vendor/module",
      ),
  },
  {
    name: "all paths of documents",
    operation: ["post", "/api/files"],
    request: asks("/api/files", { repoName: "acme/other", revisionName: "" }),
    status: 200,
    check: (body: object[]) =>
      expect(body).toEqual([{ type: "blob", path: "x.txt", name: "x.txt" }]),
  },
  {
    name: "all paths of no repository",
    operation: ["post", "/api/files"],
    request: asks("/api/files", { repoName: "no", revisionName: "HEAD" }),
    status: 404,
    code: "REPOSITORY_NOT_FOUND",
  },
  ...(
    [
      ["", "tree lib,tree src,blob README.md"],
      ["path=src", "tree src/deep,blob src/a.ts"],
      ["path=/src/", "tree src/deep,blob src/a.ts"],
      ["path=vendor&ref=v1", "commit vendor/module"],
    ] as const
  ).map(([query, want]): Row => ({
    name: `a folder with ${query}`,
    operation: get("/api/folder_contents"),
    request: gets(`/api/folder_contents?${REPO}&${query}`),
    status: 200,
    check: (body: { type: string; path: string }[]) => expect(shown(body).join()).toBe(want),
  })),
  ...["path=nope", "path=README.md", "path=..", "path=src/a.ts/x", "path=nope&ref=v1"].map(
    (query) => refused("/api/folder_contents", `${REPO}&${query}`, 404, "NOT_FOUND"),
  ),
  refused("/api/folder_contents", "repo=no/such", 404, "REPOSITORY_NOT_FOUND"),
];

export const HISTORY_ROWS: Row[] = [
  ...COMMIT_ROWS,
  ...DIFF_ROWS,
  ...FILE_ROWS,
  ...REVISION_ROWS,
  ...MISSING_ROWS,
];
