/** Repositories, files and trees. */

import { expect } from "vitest";
import { asks, gets, type Row } from "./rows.ts";
import { FIXTURES } from "./service.ts";

const repos = ["get", "/api/repos"] as [string, string];
const source = ["get", "/api/source"] as [string, string];
const revisions = ["get", "/api/revisions"] as [string, string];
const tree = ["post", "/api/tree"] as [string, string];

const names = (list: { repoName: string }[]) => list.map(({ repoName }) => repoName);

interface Node {
  name: string;
  type: string;
  children: Node[];
}
const outline = ({ name, type, children }: Node): string =>
  type === "blob" ? name : `${name}(${children.map(outline).join(" ")})`;

const [OPEN, OTHER, SECRET] = ["acme/open", "acme/other", "acme/secret"] as const;

/**
 * The repositories were pushed in the order secret, open. The time of the last push to `other` is unknown, so it comes
 * last. They were indexed in the order secret, other, open.
 */
const SORTED: [query: string, names: string[]][] = [
  ["sort=name&direction=asc", [OPEN, OTHER, SECRET]],
  ["sort=name&direction=desc", [SECRET, OTHER, OPEN]],
  ["sort=pushed", [SECRET, OPEN, OTHER]],
  ["sort=pushed&direction=asc", [SECRET, OPEN, OTHER]],
  ["sort=pushed&direction=desc", [OPEN, SECRET, OTHER]],
  ["sort=pushed&direction=desc&perPage=2", [OPEN, SECRET]],
  ["sort=pushed&direction=desc&perPage=2&page=2", [OTHER]],
  ["sort=pushed&query=E", [SECRET, OPEN, OTHER]],
  ["sort=pushed&query=se", [SECRET]],
  ["sort=indexed&direction=asc", [SECRET, OTHER, OPEN]],
  ["sort=indexed&direction=desc", [OPEN, OTHER, SECRET]],
];

export const REPOSITORY_ROWS: Row[] = [
  // ── repositories ──
  {
    name: "repositories by name",
    operation: repos,
    request: gets("/api/repos"),
    status: 200,
    check: (body: { repoName: string }[], headers) => {
      expect(names(body)).toEqual(["acme/open", "acme/other", "acme/secret"]);
      expect(body[0]).toMatchObject({
        codeHostType: "github",
        repoDisplayName: "Open Tools",
        webUrl: "https://github.com/acme/open",
        isFork: false,
        isArchived: false,
        defaultBranch: "HEAD",
      });
      expect(headers.get("x-total-count")).toBe("3");
      expect(headers.get("link")).toBe(null);
    },
  },
  {
    name: "the last page of repositories",
    operation: repos,
    request: gets("/api/repos?perPage=1&page=3&direction=desc&sort=name"),
    status: 200,
    check: (body: { repoName: string }[], headers) => {
      expect(names(body)).toEqual(["acme/open"]);
      expect(headers.get("link")).toMatch(/page=1.*rel="first".*page=2.*rel="prev"$/);
    },
  },
  {
    name: "a page beyond the last",
    operation: repos,
    request: gets("/api/repos?page=999999999&perPage=100"),
    status: 200,
    check: (body: unknown[], headers) => {
      expect(body).toEqual([]);
      expect(headers.get("x-total-count")).toBe("3");
    },
  },
  {
    name: "repositories by a part of their display name",
    operation: repos,
    request: gets("/api/repos?query=TOOLS&sort=indexed"),
    status: 200,
    check: (body: { repoName: string }[]) => expect(names(body)).toEqual(["acme/open"]),
  },
  ...SORTED.map(([query, want]): Row => ({
    name: `repositories with ${query}`,
    operation: repos,
    request: gets(`/api/repos?${query}`),
    status: 200,
    check: (body: { repoName: string; indexedAt: string; pushedAt?: string }[]) => {
      expect(names(body)).toEqual(want);
      for (const { repoName, pushedAt, indexedAt } of body) {
        expect(pushedAt).toBe(FIXTURES.find(({ name }) => name === repoName)!.pushedAt?.toJSON());
        expect(Date.parse(indexedAt)).toBeGreaterThan(Date.now() - 600_000);
      }
    },
  })),
  ...[
    "perPage=0",
    "perPage=101",
    "perPage=1.5",
    "perPage=",
    "page=0",
    "page=0x1",
    "sort=x",
    "direction=up",
    "page=1&page=2",
  ].map((query): Row => ({
    name: `repositories with ${query}`,
    operation: repos,
    request: gets(`/api/repos?${query}`),
    status: 400,
    code: "INVALID_REQUEST_BODY",
    check: (body: { message: string }) => expect(body.message).toContain(query.split("=")[0]),
  })),

  // ── revisions ──
  {
    name: "the revisions of a repository",
    operation: revisions,
    request: gets("/api/revisions?repo=acme/open"),
    status: 200,
    check: (body: object) => expect(body).toEqual([{ name: "HEAD", files: 5, isDefault: true }]),
  },
  {
    name: "the revisions of no repository",
    operation: revisions,
    request: gets("/api/revisions?repo=no/such"),
    status: 404,
    code: "REPOSITORY_NOT_FOUND",
  },
  {
    name: "the revisions of nothing",
    operation: revisions,
    request: gets("/api/revisions"),
    status: 400,
    code: "INVALID_REQUEST_BODY",
  },

  // ── files and trees ──
  {
    name: "a file",
    operation: source,
    request: gets("/api/source?repo=acme/open&path=src/deep/c.c&ref=HEAD"),
    status: 200,
    check: (body: object) =>
      expect(body).toMatchObject({
        source: "int needle(void);\n",
        language: "C",
        path: "src/deep/c.c",
        repo: "acme/open",
        repoCodeHostType: "github",
      }),
  },
  ...[
    "nope",
    "../etc/passwd",
    "src/../README.md",
    "/README.md",
    "src",
    "",
    "a%00b",
    "README.md%00",
    "%2e%2e/x",
    "a%5cb",
  ].map((path): Row => ({
    name: `no file ${path}`,
    operation: source,
    request: gets(`/api/source?repo=acme/open&path=${path}`),
    status: 404,
    code: "FILE_NOT_FOUND",
  })),
  {
    name: "a file of no revision",
    operation: source,
    request: gets("/api/source?repo=acme/open&path=README.md&ref=nope"),
    status: 404,
    code: "FILE_NOT_FOUND",
  },
  {
    name: "a file of no repository",
    operation: source,
    request: gets("/api/source?repo=no/such&path=README.md"),
    status: 404,
    code: "REPOSITORY_NOT_FOUND",
  },
  {
    name: "a file without a path",
    operation: source,
    request: gets("/api/source?repo=acme/open"),
    status: 400,
    code: "INVALID_REQUEST_BODY",
    check: (body: { message: string }) => expect(body.message).toContain("path"),
  },
  {
    name: "a tree with folders opened",
    operation: tree,
    request: asks("/api/tree", {
      repoName: "acme/open",
      revisionName: "HEAD",
      paths: ["src/deep", "nope/../..", "", "/lib/", "README.md"],
    }),
    status: 200,
    check: (body: { tree: Node }) =>
      expect(outline(body.tree)).toBe("root(lib(z.txt) src(deep(b.ts c.c) a.ts) README.md)"),
  },
  {
    name: "a tree with all folders closed",
    operation: tree,
    request: asks("/api/tree", { repoName: "acme/open", revisionName: "HEAD", paths: [] }),
    status: 200,
    check: (body: { tree: Node }) => expect(outline(body.tree)).toBe("root(lib() src() README.md)"),
  },
  {
    name: "a tree of the revision ''",
    operation: tree,
    request: asks("/api/tree", { repoName: "acme/open", revisionName: "", paths: [] }),
    status: 200,
    check: (body: { tree: Node }) => expect(outline(body.tree)).toBe("root(lib() src() README.md)"),
  },
  {
    name: "a tree of paths that are none",
    operation: tree,
    request: asks("/api/tree", { repoName: "acme/open", revisionName: "HEAD", paths: "src" }),
    status: 400,
    code: "INVALID_REQUEST_BODY",
    check: (body: { message: string }) => expect(body.message).toContain("paths"),
  },
  {
    name: "a tree of no repository",
    operation: tree,
    request: asks("/api/tree", { repoName: "no", revisionName: "HEAD", paths: [] }),
    status: 404,
    code: "REPOSITORY_NOT_FOUND",
  },
  {
    name: "a tree of no revision",
    operation: tree,
    request: asks("/api/tree", { repoName: "acme/open", revisionName: "nope", paths: [] }),
    status: 404,
    code: "NOT_FOUND",
  },
];
