/**
 * The Model Context Protocol beside the routes: the same credentials, viewers, slots, limits and audit. What
 * serves it is loaded at the first request.
 */

import type { Context, Hono } from "hono";
import type { AuditEvent } from "./options.ts";
import { admit, seesLess } from "./gate.ts";
import { Refusal, STATUS, toRefusal } from "./refusal.ts";
import type { Service } from "./route.ts";

type Tell = (event: Omit<AuditEvent, "outcome">, refusal?: Refusal) => void;

export function addMcp(
  app: Hono,
  service: Service,
  { tell, respond }: { tell: Tell; respond: (refusal: Refusal) => Response },
): void {
  const { settings } = service;
  const serve = mcpOf(service);
  app.all(`${settings.basePath}/api/mcp`, async (context: Context) => {
    const at = new Date();
    try {
      const response = await serve(context.req.raw);
      tell({ at, action: "mcp", status: response.status });
      return response;
    } catch (error) {
      const refusal = toRefusal(error);
      tell({ at, action: "mcp", status: STATUS[refusal.code] }, refusal);
      return respond(refusal);
    }
  });
}

function mcpOf(service: Service): (request: Request) => Promise<Response> {
  const { engine, settings, slots } = service;
  const handler = once(async () => {
    const { createHandlerFor } = await import("../mcp/handler.ts");
    return createHandlerFor(engine, {
      timeoutMs: settings.timeoutMs,
      maxBodyBytes: settings.maxBodyBytes,
    });
  });
  return async (request) => {
    const { viewer, identity } = await admit(request, "search", service);
    const { refuseHost, refuseOrigin } = await import("../mcp/handler.ts");
    // a credential is not sent by a page of another name; public repositories are no secret
    const isOpen = identity.principal.kind === "anonymous" && settings.anonymous === "all";
    const wrong =
      (isOpen ? refuseHost(request, []) : undefined) ??
      refuseOrigin(request, [...settings.origins]);
    if (wrong) throw new Refusal("INSUFFICIENT_PERMISSIONS", wrong);
    const giveBack = slots.take();
    try {
      const response = await (await handler())(request, viewer);
      const { viewer: now } = await admit(request, "search", service);
      if (seesLess(viewer, now))
        throw new Refusal("INSUFFICIENT_PERMISSIONS", "what you may see has changed: ask again");
      return response;
    } finally {
      giveBack();
    }
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
