/** Serves the list of connections to code hosts, which comes from HandlerOptions.connections. */

import { z } from "@hono/zod-openapi";
import { coreOf } from "../core-of.ts";
import { jsonResponse } from "./json-body.ts";
import type { Connection } from "./options.ts";
import { plain, type Call, type Route } from "./route.ts";

/** The types of connections that clients know. */
const CONNECTION_TYPES = [
  "github",
  "gitlab",
  "gitea",
  "gerrit",
  "bitbucket",
  "azuredevops",
  "git",
] as const;

const connectionList = z.array(
  z
    .object({
      id: z
        .int()
        .min(0)
        .openapi({ description: "The id, for connectionId in the list of repositories." }),
      name: z.string(),
      connectionType: z.enum(CONNECTION_TYPES),
    })
    .openapi("Connection"),
);

export function connectionRoutes(): Route[] {
  return [
    plain(
      {
        method: "get",
        path: "/api/connections",
        action: "listConnections",
        tag: "Connections",
        summary: "List the connections to code hosts",
        access: "search",
        answers: {
          status: 200,
          description: "The connections with a repository that the caller may see, by id",
          schema: connectionList,
        },
      },
      listConnections,
    ),
  ];
}

async function listConnections(call: Call): Promise<Response> {
  const shown = [];
  for (const one of call.settings.connections())
    if (await isVisible(call, one))
      shown.push({ id: one.id, name: one.name, connectionType: one.connectionType });
  shown.sort((a, b) => a.id - b.id);
  return jsonResponse(shown, { confirm: call.confirm });
}

/**
 * Resolves to true if the caller may see a connection. A caller without restrictions sees every connection, even an
 * empty one. Any other caller sees only connections with a repository that the caller may see.
 */
async function isVisible(call: Call, connection: Connection): Promise<boolean> {
  const { viewer } = call.caller;
  if (viewer === undefined) return true;
  const among = namesIn(connection);
  const all = { query: "", sort: "name", direction: "asc", skip: 0, limit: 0 } as const;
  return (await coreOf(call.engine).repositories.page({ ...all, viewer, among })).total > 0;
}

/**
 * Returns the names of a connection's repositories. If the connection's array is frozen, the same array is
 * returned without a copy, because caches recognize it by its identity.
 */
const namesIn = ({ repositories }: Connection): readonly string[] =>
  Array.isArray(repositories) && Object.isFrozen(repositories)
    ? (repositories as readonly string[])
    : [...repositories];

/** Returns the names of a connection's repositories. Returns an empty list if the connection does not exist. */
export function repositoriesOf(call: Call, connectionId: number): readonly string[] {
  for (const one of call.settings.connections()) if (one.id === connectionId) return namesIn(one);
  return [];
}
