/** Members, the audit, connections, models. */

import { expect } from "vitest";
import { gets, needle, type Row } from "./rows.ts";
import { bearer, mint, person, post } from "./service.ts";

const user = ["get", "/api/ee/user"] as [string, string];
const removing = ["delete", "/api/ee/user"] as [string, string];
const audit = ["get", "/api/ee/audit"] as [string, string];
const connections = ["get", "/api/connections"] as [string, string];
const repos = ["get", "/api/repos"] as [string, string];

const removes =
  (userId: string, who: "owner" | "ada" = "owner", more: object = {}): Row["request"] =>
  async ({ keys, users }) => {
    if (userId === "guest") await users.put(person("guest"));
    const headers = { ...bearer(keys[who]), ...more };
    return [`/api/ee/user?userId=${userId}`, { method: "DELETE", headers }];
  };
const TEXT = { "Content-Type": "text/plain" };

export const MEMBER_ROWS: Row[] = [
  {
    name: "a member",
    operation: user,
    request: gets("/api/ee/user?userId=bob", "owner"),
    status: 200,
    check: (body: object) => expect(body).toMatchObject({ id: "bob", role: "MEMBER" }),
  },
  ...(
    [
      ["a member who is not there", "?userId=nobody", "owner", 404, "NOT_FOUND"],
      ["no member's id", "", "owner", 400, "INVALID_REQUEST_BODY"],
      ["an empty id", "?userId=", "owner", 400, "INVALID_REQUEST_BODY"],
      ["a member, for a member", "?userId=bob", "ada", 403, "INSUFFICIENT_PERMISSIONS"],
    ] as const
  ).map(([name, query, who, status, code]): Row => ({
    name,
    operation: user,
    request: gets(`/api/ee/user${query}`, who),
    status,
    code,
  })),
  {
    name: "removing a member",
    operation: removing,
    request: removes("guest"),
    status: 200,
    check: async (body: object, _headers, { users }) => {
      expect(body).toEqual({ success: true, message: "the member was removed" });
      expect(await users.get("guest")).toBe(undefined);
    },
  },
  ...(
    [
      ["removing an empty id", removes(""), 400, "INVALID_REQUEST_BODY"],
      ["removing as text", removes("bob", "owner", TEXT), 415, "UNSUPPORTED_MEDIA_TYPE"],
      ["removing nobody", removes("nobody"), 404, "NOT_FOUND"],
      ["removing the last active owner", removes("owner"), 403, "INSUFFICIENT_PERMISSIONS"],
      ["removing, as a member", removes("bob", "ada"), 403, "INSUFFICIENT_PERMISSIONS"],
    ] as const
  ).map(([name, request, status, code]): Row => ({
    name,
    operation: removing,
    request,
    status,
    code,
  })),

  // ── the audit ──
  {
    name: "what was done, the newest first",
    operation: audit,
    request: async (service) => {
      await mint(service, service.keys.ada, [service.ids["acme/open"]!]);
      const search = post(needle, bearer(service.keys.ada));
      await (await service.handler(new Request("http://host/api/search", search))).text();
      return ["/api/ee/audit?perPage=2", { headers: bearer(service.keys.owner) }];
    },
    status: 200,
    check: (body: { action: string; actorId: string; metadata: object }[], headers) => {
      expect(body.map(({ action, actorId }) => `${action} ${actorId}`)).toEqual([
        "search.performed ada",
        "token.minted ada",
      ]);
      expect(body[0]!.metadata).toMatchObject({ query: "needle", fileCount: 7 });
      expect(Number(headers.get("x-total-count"))).toBeGreaterThan(1);
      expect(headers.get("link")).toMatch(
        /^<http:\/\/[^>]+\/api\/ee\/audit\?perPage=2&page=2>; rel="next", /,
      );
    },
  },
  {
    name: "what was done in a time when nothing was",
    operation: audit,
    request: gets("/api/ee/audit?since=2020-01-01&until=2020-01-02T00:00:00%2B02:00", "owner"),
    status: 200,
    check: (body: object[]) => expect(body).toEqual([]),
  },
  ...["since=yesterday", "until=2020-13-01", "perPage=101", "page=0"].map((query): Row => ({
    name: `what was done with ${query}`,
    operation: audit,
    request: gets(`/api/ee/audit?${query}`, "owner"),
    status: 400,
    code: "INVALID_REQUEST_BODY",
    check: ({ message }: { message: string }) => expect(message).toContain(query.split("=")[0]),
  })),
  {
    name: "what was done, for a member",
    operation: audit,
    request: gets("/api/ee/audit"),
    status: 403,
    code: "INSUFFICIENT_PERMISSIONS",
  },

  // ── connections ──
  {
    name: "connections",
    operation: connections,
    request: gets("/api/connections"),
    status: 200,
    check: (body: object[]) =>
      expect(body).toEqual([
        { id: 1, name: "forge", connectionType: "gitlab" },
        { id: 7, name: "hub", connectionType: "github" },
      ]),
  },
  {
    name: "repositories of a connection",
    operation: repos,
    request: gets("/api/repos?connectionId=7"),
    status: 200,
    check: (body: { repoName: string; webUrl: string }[], headers) => {
      expect(body.map(({ repoName }) => repoName)).toEqual(["acme/open", "acme/secret"]);
      expect(headers.get("x-total-count")).toBe("2");
      expect(body[0]!.webUrl).toBe("https://github.com/acme/open");
      expect(body[1]!.webUrl).toMatch(/^http:\/\/.+\/browse\/acme\/secret@HEAD\/-\/tree\/$/);
    },
  },
  {
    name: "repositories of no connection",
    operation: repos,
    request: gets("/api/repos?connectionId=2"),
    status: 200,
    check: (body: object[]) => expect(body).toEqual([]),
  },
  {
    name: "repositories of a connection that is no number",
    operation: repos,
    request: gets("/api/repos?connectionId=x"),
    status: 400,
    code: "INVALID_REQUEST_BODY",
  },
  {
    name: "models",
    operation: ["get", "/api/models"],
    request: gets("/api/models"),
    status: 200,
    check: (body: object[]) => expect(body).toEqual([]),
  },
  ...["/api/models", "/api/connections"].map((path): Row => ({
    name: `${path}: no generation`,
    operation: ["get", path],
    request: ({ keys }) => [
      path,
      { headers: { ...bearer(keys.owner), "X-Quern-Generation": "3" } },
    ],
    status: 400,
    code: "INVALID_REQUEST_BODY",
  })),
];
