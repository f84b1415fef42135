/**
 * Serves the Model Context Protocol with the same credentials, viewers, slots, limits and audit as the routes. The
 * code for the protocol is loaded at the first request.
 *
 * A request may contain many calls, so each call takes a separate slot and has a separate audit record. With the
 * protocol of 2025, the response begins before the calls have run. So the caller is checked again before the result
 * of each call is sent.
 */

import type { Context, Hono } from "hono";
import { lazily } from "../base/out-of-files.ts";
import type { Identity } from "../auth/principal.ts";
import { CallRefused, type AskedCall, type Guard } from "../mcp/guard.ts";
import type { AuditAction } from "./audit-trail.ts";
import { answerPreflight } from "./cors.ts";
import { admit, seesLess, type Caller } from "./gate.ts";
import { Refusal, STATUS, toRefusal } from "./refusal.ts";
import { audit, record, touch, whoIs } from "./reporting.ts";
import type { Service } from "./route.ts";

/**
 * The names under which calls are recorded, by tool. A tool without a name here is not recorded, and neither is the
 * corresponding route.
 */
const ACTIONS: Readonly<Record<string, AuditAction>> = {
  search: "search.performed",
  find_files: "search.performed",
  outline: "search.performed",
  definitions: "search.performed",
  references: "search.performed",
  complete_path: "search.performed",
  read: "file.read",
  resource: "file.read",
  tree: "folder.read",
  history: "history.read",
};

const TAKES = "POST, OPTIONS";

export function addMcp(app: Hono, service: Service, respond: (refusal: Refusal) => Response): void {
  const { settings, metrics } = service;
  const serve = mcpOf(service);
  app.all(`${settings.basePath}/api/mcp`, async (context: Context) => {
    const at = new Date();
    const request = context.req.raw;
    if (request.method === "OPTIONS") return answerPreflight(request, settings, TAKES);
    let identity: Identity | undefined;
    const tell = (status: number, refusal?: Refusal): void => {
      metrics?.request("mcp", status);
      audit(settings, { at, action: "mcp", status, ...whoIs(identity) }, refusal);
    };
    try {
      const response = await serve(request, at, (known) => (identity = known));
      tell(response.status);
      if (!response.headers.has("cache-control")) response.headers.set("Cache-Control", "no-store");
      return response;
    } catch (error) {
      const refusal = toRefusal(error);
      tell(STATUS[refusal.code], refusal);
      record(settings, { at, action: undefined, request, identity, noted: {}, refusal });
      return respond(refusal);
    }
  });
}

type Serve = (
  request: Request,
  at: Date,
  onIdentity: (identity: Identity) => void,
) => Promise<Response>;

const mcpHandler = lazily(() => import("../mcp/handler.ts"));

function mcpOf(service: Service): Serve {
  const { engine, settings } = service;
  const handler = once(async () => {
    const { createHandlerFor } = await mcpHandler();
    return createHandlerFor(engine, {
      timeoutMs: settings.timeoutMs,
      maxBodyBytes: settings.maxBodyBytes,
      ...(settings.mcp && {
        withoutTools: settings.mcp.withoutTools,
        secrets: settings.mcp.secrets,
      }),
    });
  });
  return async (request, at, onIdentity) => {
    const caller = await admit(request, "search", service, onIdentity);
    touch(settings, caller, at);
    const wrong = await wrongNames(request, caller, service);
    if (wrong) throw new Refusal("INSUFFICIENT_PERMISSIONS", wrong);
    const guard = guardOf(request, caller, service);
    return (await handler())(request, { viewer: caller.viewer, guard });
  };
}

/**
 * Checks the headers Host and Origin of a request. Resolves to a complaint if one of them is not allowed. A web page
 * can make its own host name resolve to this server (DNS rebinding), but the page has no credential. So the Host is
 * checked if the caller is anonymous and may search everything, or if `allowedHosts` is set.
 */
async function wrongNames(
  request: Request,
  { identity }: Caller,
  { settings }: Service,
): Promise<string | undefined> {
  const { refuseHost, refuseOrigin } = await mcpHandler();
  const { mcp, anonymous, publicUrl, origins } = settings;
  const { allowedHosts, allowedOrigins = [] } = mcp || {};
  const isOpen = identity.principal.kind === "anonymous" && anonymous === "all";
  const hosts = [...(allowedHosts ?? []), ...(publicUrl ? [new URL(publicUrl).hostname] : [])];
  const isNamed = isOpen || allowedHosts !== undefined;
  return (
    (isNamed ? refuseHost(request, hosts) : undefined) ??
    refuseOrigin(request, [...origins, ...allowedOrigins])
  );
}

/**
 * Returns a guard for the calls of one request. It takes a slot for each call, checks the caller again, and records
 * the call.
 */
function guardOf(request: Request, { identity, viewer, client }: Caller, service: Service): Guard {
  const { slots, settings } = service;
  return async (call, run) => {
    const at = new Date();
    const noted: Record<string, unknown> = { ...plainArguments(call) };
    const put = (refusal?: Refusal): void =>
      record(settings, { at, action: ACTIONS[call.tool], request, identity, noted, refusal });
    try {
      const { giveBack } = await slots.take({ identity, client }, request.signal);
      try {
        const answer = await run((facts) => void Object.assign(noted, facts));
        const { viewer: now } = await admit(request, "search", service);
        if (seesLess(viewer, now))
          throw new Refusal(
            "INSUFFICIENT_PERMISSIONS",
            "your permissions have changed: send the request again",
          );
        noted["durationMs"] = Date.now() - at.getTime();
        put();
        return answer;
      } finally {
        giveBack();
      }
    } catch (error) {
      put(toRefusal(error));
      if (!(error instanceof Refusal)) throw error;
      throw new CallRefused(error.message, { cause: error });
    }
  };
}

/**
 * Returns the arguments of a call for its audit record. A cursor is only a handle, so it is left out. The tool adds
 * the request that the cursor refers to.
 */
function plainArguments({ tool, args }: AskedCall): object {
  const { cursor: _, ...named } = args as { cursor?: string };
  return { tool, ...named };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
