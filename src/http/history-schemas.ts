/** Defines the JSON of the git routes as schemas, in the way that schemas.ts describes. */

import { z } from "@hono/zod-openapi";
import type * as history from "../history/history.ts";
import { digits, REVISION_OR_EMPTY, REVISION_PATTERN, type Same } from "./schemas.ts";

const MOST_PAGE = 100;
const page = digits(1, 999_999_999);
const perPage = digits(50, MOST_PAGE);

const repo = z.string().openapi({ description: "The name of a repository." });
const ref = (description: string) =>
  z
    .string()
    .optional()
    .openapi({ ...REVISION_PATTERN, description });
const REVISION =
  "A branch, a tag, HEAD, a full name (refs/heads/x) or a commit id, also shortened.";
const current = ref(`${REVISION} Default: the clone's HEAD.`);
const indexed = ref(`${REVISION} Default, and HEAD: the indexed default one.`);
const path = z.string().optional().openapi({ description: "A file or folder. Default: all." });
const EXPRESSION = "a POSIX basic expression, in any case.";
const text = (description: string) => z.string().optional().openapi({ description });

export const commitsQuery = z.object({
  repo,
  ref: current,
  path,
  author: text(`Part of the author's name and address: ${EXPRESSION}`),
  query: text(`Part of a line of the message: ${EXPRESSION}`),
  since: text("ISO 8601, or another date that git accepts, such as 2 weeks ago."),
  until: text("ISO 8601, or another date that git accepts, such as yesterday."),
  page,
  perPage,
});

export const commitQuery = z.object({
  repo,
  ref: z.string().openapi({ ...REVISION_PATTERN, description: REVISION }),
});

export const authorsQuery = z.object({ repo, ref: current, path, page, perPage });

export const diffQuery = z.object({
  repo,
  base: z.string().openapi({ ...REVISION_PATTERN, description: `The old revision. ${REVISION}` }),
  head: z.string().openapi({ ...REVISION_PATTERN, description: `The new revision. ${REVISION}` }),
  path,
});

export const blameQuery = z.object({ repo, path: z.string(), ref: current });

export const folderQuery = z.object({
  repo,
  path: z.string().optional().openapi({ description: "Default: the root." }),
  ref: indexed,
});

export const filesRequest = z
  .object({
    repoName: z.string(),
    revisionName: z.string().openapi({
      ...REVISION_OR_EMPTY,
      description: `${REVISION} If empty or HEAD, the indexed default revision.`,
    }),
  })
  .openapi("FilesRequest");

const person = { authorName: z.string(), authorEmail: z.string() };
const date = z.string().openapi({ description: "ISO 8601 with the author's time zone." });

const commitFields = {
  hash: z.string(),
  date,
  message: z.string().openapi({ description: "The subject." }),
  refs: z.string().openapi({
    description: "Branches and tags that point to the commit, as in git log --decorate.",
    example: "HEAD -> main, tag: v1",
  }),
  body: z.string(),
  ...person,
  author_name: z.string().openapi({ description: "Same as authorName." }),
  author_email: z.string().openapi({ description: "Same as authorEmail." }),
};

const commit = z.object(commitFields).openapi("Commit");
export const commitList = z.array(commit);
export const commitWithParents = z
  .object({ ...commitFields, parents: z.array(z.string()) })
  .openapi("CommitWithParents");

const author = z
  .object({ name: z.string(), email: z.string(), commitCount: z.int().min(1) })
  .openapi("Author");
export const authorList = z.array(author);

const lineRange = z
  .object({ start: z.int().min(0), lines: z.int().min(0) })
  .openapi("LineRange", { description: "1-based; 0 in a file that does not exist." });

const fileDiff = z
  .object({
    oldPath: z.string().nullable().openapi({ description: "Null if the file was added." }),
    newPath: z.string().nullable().openapi({ description: "Null if the file was deleted." }),
    hunks: z.array(
      z.object({
        oldRange: lineRange,
        newRange: lineRange,
        heading: z.string().optional(),
        body: z.string().openapi({ description: "Lines that begin with +, - or a blank." }),
      }),
    ),
  })
  .openapi("FileDiff");
export const diffResponse = z.object({ files: z.array(fileDiff) }).openapi("Diff");

const blamedCommit = z
  .object({
    hash: z.string(),
    date,
    message: z.string(),
    ...person,
    previous: z.object({ hash: z.string(), path: z.string() }).optional(),
  })
  .openapi("BlamedCommit");

export const blameResponse = z
  .object({
    ranges: z.array(
      z.object({
        hash: z.string(),
        path: z.string().openapi({ description: "The path in that commit." }),
        startLine: z.int().min(1),
        lineCount: z.int().min(1),
      }),
    ),
    commits: z
      .record(z.string(), blamedCommit)
      .openapi({ description: "The commits, by their full id." }),
  })
  .openapi("Blame");

const pathEntry = z
  .object({ type: z.enum(["tree", "blob", "commit"]), path: z.string(), name: z.string() })
  .openapi("PathEntry", {
    description: "The type commit means a submodule; a symbolic link is a blob.",
  });
export type PathEntry = z.infer<typeof pathEntry>;
export const pathList = z.array(pathEntry);

type All<Checks extends true[]> = Checks;

/** Fails to compile if a schema and its type differ. */
export type HistorySchemasAgree = All<
  [
    Same<typeof author, history.Author>,
    Same<typeof fileDiff, history.FileDiff>,
    Same<typeof blameResponse, history.Blame>,
  ]
>;
