/** Serves the history of a repository, which consists of commits, authors, differences and blame. */

import type { Commit } from "../history/history.ts";
import * as schemas from "./history-schemas.ts";
import { PAGE_HEADERS, pageHeaders } from "./pages.ts";
import { Refusal } from "./refusal.ts";
import { checkRef, historyOf } from "./revisions.ts";
import { withQuery, type Call, type Route } from "./route.ts";
import { answerInSlot } from "./search-routes.ts";

const common = { method: "get", tag: "Git", access: "search", audit: "history.read" } as const;
const REFUSALS = ["INVALID_GIT_REF", "REPOSITORY_NOT_FOUND", "HISTORY_NOT_AVAILABLE"] as const;

export function historyRoutes(): Route[] {
  return [commitsRoute(), commitRoute(), authorsRoute(), diffRoute(), blameRoute()];
}

/** Returns the query without the fields whose value is undefined. */
function given<T extends object>(query: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof T]: Exclude<T[Name], undefined> };
}

/** Adds fields with the author's name and e-mail address, under the field names that older clients read. */
const withOlderNames = <T extends Commit>(commit: T) => ({
  ...commit,
  author_name: commit.authorName,
  author_email: commit.authorEmail,
});

const signalOf = ({ request: { signal } }: Call) => ({ signal });

function commitsRoute(): Route {
  return withQuery(
    {
      ...common,
      path: "/api/commits",
      action: "listCommits",
      summary: "List commits, newest first",
      query: schemas.commitsQuery,
      answers: {
        status: 200,
        description: "One page of them",
        schema: schemas.commitList,
        headers: PAGE_HEADERS,
      },
      refusals: REFUSALS,
    },
    async (call, { repo, ref, page = 1, perPage = 50, ...filters }) => {
      checkRef(ref);
      const history = await historyOf(call, repo);
      return answerInSlot(call, async () => {
        const { commits, total } = await history.commits({
          ...given({ revision: ref, ...filters }),
          skip: (page - 1) * perPage,
          limit: perPage,
          ...signalOf(call),
        });
        const headers = pageHeaders(call, { page, perPage, total });
        return { body: commits.map(withOlderNames), headers };
      });
    },
  );
}

function commitRoute(): Route {
  return withQuery(
    {
      ...common,
      path: "/api/commit",
      action: "readCommit",
      summary: "Read one commit",
      query: schemas.commitQuery,
      answers: {
        status: 200,
        description: "The commit, with its parents",
        schema: schemas.commitWithParents,
      },
      refusals: [...REFUSALS, "NOT_FOUND"],
    },
    async (call, { repo, ref }) => {
      checkRef(ref);
      const history = await historyOf(call, repo);
      return answerInSlot(call, async () => {
        const commit = await history.commit(ref, signalOf(call));
        if (commit === undefined) throw new Refusal("NOT_FOUND", "there is no such commit");
        return { body: withOlderNames(commit) };
      });
    },
  );
}

function authorsRoute(): Route {
  return withQuery(
    {
      ...common,
      path: "/api/commits/authors",
      action: "listAuthors",
      summary: "Count commits by author, most first",
      query: schemas.authorsQuery,
      answers: {
        status: 200,
        description: "One page of them",
        schema: schemas.authorList,
        headers: PAGE_HEADERS,
      },
      refusals: REFUSALS,
    },
    async (call, { repo, ref, path, page = 1, perPage = 50 }) => {
      checkRef(ref);
      const history = await historyOf(call, repo);
      return answerInSlot(call, async () => {
        const { authors, total } = await history.authors({
          ...given({ revision: ref, path }),
          skip: (page - 1) * perPage,
          limit: perPage,
          ...signalOf(call),
        });
        return { body: authors, headers: pageHeaders(call, { page, perPage, total }) };
      });
    },
  );
}

function diffRoute(): Route {
  return withQuery(
    {
      ...common,
      path: "/api/diff",
      action: "compareRevisions",
      summary: "Compare two revisions",
      description: "Returns the same as git diff base head, with rename detection.",
      query: schemas.diffQuery,
      answers: { status: 200, description: "Files that differ", schema: schemas.diffResponse },
      refusals: [...REFUSALS, "FILE_TOO_LARGE"],
    },
    async (call, { repo, base, head, path }) => {
      checkRef(base);
      checkRef(head);
      const history = await historyOf(call, repo);
      return answerInSlot(call, async () => {
        const files = await history.diff({ base, head, ...given({ path }), ...signalOf(call) });
        return { body: { files } };
      });
    },
  );
}

function blameRoute(): Route {
  return withQuery(
    {
      ...common,
      path: "/api/blame",
      action: "blameFile",
      summary: "Find the commit that each line of a file comes from",
      query: schemas.blameQuery,
      answers: {
        status: 200,
        description: "Ranges of lines, in order, and their commits",
        schema: schemas.blameResponse,
      },
      refusals: [...REFUSALS, "FILE_NOT_FOUND", "FILE_TOO_LARGE"],
    },
    async (call, { repo, path, ref }) => {
      checkRef(ref);
      const history = await historyOf(call, repo);
      return answerInSlot(call, async () => {
        const blame = await history.blame({ path, ...given({ revision: ref }), ...signalOf(call) });
        if (blame === undefined)
          throw new Refusal("FILE_NOT_FOUND", "there is no such file in this revision");
        return { body: blame };
      });
    },
  );
}
