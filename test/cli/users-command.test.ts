/** Tests `quern users`, and how members affect `quern keys` and `quern serve`. */

import { expect, onTestFinished, test } from "vitest";
import { ask, db, indexSome } from "./indexed.ts";
import { quern, type Ran } from "./terminal.ts";

indexSome();

async function serve(...argv: string[]): Promise<string> {
  const stop = new AbortController();
  let ended: Promise<Ran> | undefined;
  const announced = new Promise<string>((resolve) => {
    const world = { signal: stop.signal, onOutput: resolve };
    ended = quern(["serve", "--db", db, "--port", "0", "--no-page", "--json", ...argv], world);
  });
  onTestFinished(async () => (stop.abort(), void (await ended)));
  return (JSON.parse(await announced) as { url: string }).url;
}

const keyOf = async (...argv: string[]) => {
  const { stdout } = await ask("keys", "create", "--json", ...argv);
  return (JSON.parse(stdout) as { secret: string }).secret;
};

test("the commands turn an empty directory into a team with members, keys and audit records", async () => {
  const url = await serve("--public-url", "https://code.example.com");
  const get = (path: string, secret: string, method = "GET") =>
    fetch(url + path, { method, headers: { authorization: `Bearer ${secret}` } });
  const status = async (path: string, secret: string) => (await get(path, secret)).status;

  const local = await keyOf();
  expect(await status("/api/ee/users", local)).toBe(200);
  expect(await ask("users", "list")).toMatchObject({ code: 1, stdout: "" });
  expect(await ask("users", "suspend", "ada")).toMatchObject({ code: 1 });

  expect(await ask("users", "add", "ada", "--role", "member")).toMatchObject({ code: 2 });
  expect(await ask("users", "add", "ada", "--email", "ada@example.com")).toMatchObject({ code: 0 });
  expect(await ask("users", "add", "bob", "--name", "Bob")).toMatchObject({ code: 0 });
  expect((await ask("users", "list")).stdout).toMatch(
    /^ada +owner +active +ada@example.com\nbob +member +active +Bob\n$/,
  );
  expect(await status("/api/repos", local)).toBe(401);
  expect(await ask("keys", "create", "--owner", "eve")).toMatchObject({ code: 2, stdout: "" });
  const [ada, bob] = [await keyOf("--owner", "ada"), await keyOf("--owner", "bob")];
  expect([await status("/api/ee/users", ada), await status("/api/ee/users", bob)]).toEqual([
    200, 403,
  ]);

  const repos = (await (await get("/api/repos", bob)).json()) as { webUrl: string }[];
  expect(repos[0]!.webUrl).toMatch(/^https:\/\/code\.example\.com\/browse\/.+@.+\/-\/tree\/$/);
  const { pathname } = new URL(repos[0]!.webUrl);
  const tree = await get(pathname, bob);
  expect(tree.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(await tree.text()).toContain("go.mod\n");
  const file = await get(pathname.replace("/tree/", "/blob/go.mod"), bob);
  expect(await file.text()).toMatch(/^module /);
  expect(await status(pathname, "")).toBe(401);
  expect(await status(pathname.replace("/tree/", "/blob/none"), bob)).toBe(404);
  for (const path of ["/browse/none/-/tree/", "/browse/x", "/browse/%ff/-/blob/a"])
    expect(await status(path, bob), path).toBe(404);

  expect(await ask("users", "suspend", "bob")).toMatchObject({ code: 0 });
  expect(await status("/api/repos", bob)).toBe(401);
  expect(await ask("users", "add", "bob")).toMatchObject({ code: 0 });
  expect(await status("/api/repos", bob)).toBe(200);
  for (const what of ["suspend", "remove"])
    expect(await ask("users", what, "ada")).toMatchObject({ code: 2, stdout: "" });
  expect(await ask("users", "remove", "bob", "--json")).toMatchObject({
    code: 0,
    stdout: '{"removed":true}\n',
  });
  expect(await ask("users", "remove", "bob")).toMatchObject({ code: 1 });
  expect(await ask("users", "add", "bob")).toMatchObject({ code: 0 });
  expect(await status("/api/repos", bob)).toBe(401);

  expect((await get("/api/ee/user?userId=bob", ada, "DELETE")).status).toBe(200);
  const actionsOf = async () => {
    const records = await (await get("/api/ee/audit?perPage=100", ada)).json();
    return (records as { action: string; actorId: string }[]).map(
      ({ action, actorId }) => `${action} ${actorId}`,
    );
  };
  await expect.poll(actionsOf).toContain("user.removed ada"); // records are written without a wait
  const actions = await actionsOf();
  expect(actions).toContain("file.read bob");
  expect(actions).toContain("credential.rejected ");
});
