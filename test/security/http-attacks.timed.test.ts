/**
 * How long a stranger's megabyte blocks the caller's thread, for each route: the thread's processor time in one turn.
 */

import { beforeAll, expect, test } from "vitest";
import { watchStalls } from "../../bench/stall.ts";
import { tellFigure } from "../figures.ts";
import { bearer, startService, type Service } from "../http/service.ts";
import { SLOWNESS } from "../slowness.ts";
import { HTTP_ATTACKS, type HttpAttack } from "./http-attacks.ts";

let service: Service;
beforeAll(async () => {
  service = await startService({
    timeoutMs: 2_000,
    mcp: true,
    page: true,
    webhook: async () => "refused",
  });
});

/** The limit of milliseconds of processor time in one turn. The documented limit is 5, but this machine may be slow. */
const MOST_MS = 8 * SLOWNESS;
const TRIES = 15;

function requestOf({ route, url, body, headers }: HttpAttack): Request {
  const [method, path] = route.split(" ");
  const sent = {
    ...bearer(service.keys.owner),
    "Content-Type": "application/json",
    ...headers?.(),
  };
  const given = body?.();
  return new Request(`http://localhost${url?.() ?? path}`, {
    method: method!.toUpperCase(),
    headers: sent,
    ...(given !== undefined && { body: given }),
  });
}

test.each(HTTP_ATTACKS)("$route: $what", async (attack) => {
  let turn = Infinity;
  let status = 0;
  for (let left = TRIES; left > 0 && turn > MOST_MS; left--) {
    const request = requestOf(attack);
    await new Promise((resolve) => setTimeout(resolve, 2)); // building it does not count as the route's time
    const stalls = watchStalls();
    const response = await service.handler(request);
    await response.text();
    turn = Math.min(turn, (await stalls()).ownMs);
    status = response.status;
  }
  tellFigure(`${turn.toFixed(1)} ms ${status} ${attack.route}: ${attack.what}`);
  if (attack.status === undefined) expect(status).toBeLessThan(500);
  else expect(status).toBe(attack.status);
  expect(turn).toBeLessThan(MOST_MS);
});

/** Returns a body that arrives byte by byte. */
function inBytes(body: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    if (at < body.length) controller.enqueue(body.subarray(at, ++at));
    else controller.close();
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

test.each(["/api/search", "/api/mcp"])("a body for %s in parts of one byte", async (path) => {
  const body = Buffer.from(JSON.stringify({ query: "needle", matches: 1 }).padEnd(150_000));
  let turn = Infinity;
  for (let left = TRIES; left > 0 && turn > MOST_MS; left--) {
    const headers = { ...bearer(service.keys.owner), "Content-Type": "application/json" };
    const init = { method: "POST", headers, body: inBytes(body), duplex: "half" } as RequestInit;
    const stalls = watchStalls();
    const response = await service.handler(new Request(`http://localhost${path}`, init));
    await response.text();
    turn = Math.min(turn, (await stalls()).ownMs);
  }
  tellFigure(`${turn.toFixed(1)} ms ${path} in parts of one byte`);
  expect(turn).toBeLessThan(MOST_MS);
});

test("every route is attacked", async () => {
  const response = await service.handler(new Request("http://localhost/api/openapi.json"));
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, object>> };
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path.replace(/\{\w+\}/, "x")}`),
  );
  const attacked = new Set(HTTP_ATTACKS.map(({ route }) => route));
  // the document has no row for bodies that are not JSON
  const others = ["post /api/mcp", "get /browse/acme/open/-/blob/README.md", "get /search"];
  expect([...attacked].toSorted()).toEqual([...routes, ...others].toSorted());
});
