/**
 * Defines what a route is. A route has the name of an operation, says who may use the operation, and describes the
 * operation's input and responses. The handler and the OpenAPI document are both built from the table of routes.
 *
 * A call is checked in these steps, in this order. If a step fails, the call is refused with the step's status:
 *
 *     405 method   401, 403 caller   415 content type   413 length   400 fields   the checks of the route itself
 *
 * The body is not read before the check of the caller has succeeded. The caller is checked again before a response
 * is sent. If the caller may then see less than before, and the route only reads, the route runs again.
 */

import type { z } from "@hono/zod-openapi";
import type { Engine } from "../engine.ts";
import type { Viewer } from "../search/messages/request.ts";
import type { Identity } from "../auth/principal.ts";
import type { AuditAction } from "./audit-trail.ts";
import { check, isJson, queryObject, readJson } from "./body.ts";
import { ignoredHeader, withOwnNames } from "./field-names.ts";
import { reachGeneration } from "./generation.ts";
import { admit, forbidden, seesLess, type Access, type Caller } from "./gate.ts";
import type { Metrics } from "./metrics.ts";
import type { Settings } from "./options.ts";
import { Refusal, type RefusalCode } from "./refusal.ts";
import type { Slots } from "./slots.ts";

/** The objects that all calls of a handler share. */
export interface Service {
  readonly engine: Engine;
  readonly settings: Settings;
  readonly slots: Slots;
  /** Counts requests. Absent if the service has no metrics. */
  readonly metrics?: Metrics;
}

/** An admitted request. */
export interface Call extends Service {
  readonly request: Request;
  readonly caller: Caller;
  /** The value of the parameter in the path, or "" if the path has no parameter. */
  readonly id: string;
  /** Rejects if the caller has lost access, or may see less than when the request arrived. */
  readonly confirm: () => Promise<void>;
  /**
   * Reports the end of a streamed response, which is sent after the call has returned. The handler reports all other
   * responses itself.
   */
  readonly onEnd: (refusal: Refusal | undefined) => void;
  /** Adds facts to the audit record, which at first contains only the checked input. */
  readonly note: (facts: object) => void;
  /**
   * Delays the audit record until the returned function is called, so that facts can be added while the response is
   * read.
   */
  readonly recordLater: () => () => void;
}

/** Returns the option `viewer` of the engine's calls, or no option if everything is visible. */
export const viewerOption = ({ caller }: Call): { viewer?: Viewer } =>
  caller.viewer === undefined ? {} : { viewer: caller.viewer };

interface Description {
  readonly method: "get" | "post" | "delete";
  /** The path in the notation of OpenAPI, with a parameter in braces. */
  readonly path: string;
  readonly action: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** The name under which the audit store records the calls. Absent if they are not recorded. */
  readonly audit?: AuditAction;
  /** Whether the response is sent even if the caller no longer exists. The call itself may have removed the caller. */
  readonly outlivesCaller?: true;
  /** Whether the route changes something. If so, content types other than JSON are rejected. */
  readonly changes?: true;
  /** Whether the route itself calls confirm() while its response is read. */
  readonly streams?: true;
  readonly answers: Answers;
  /** The refusals of this route, in addition to those of all similar routes. */
  readonly refusals?: readonly RefusalCode[];
}

export interface Answers {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  readonly schema?: z.ZodType;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Input = { body?: z.ZodType; query?: z.ZodObject; params?: z.ZodObject };

export interface Route extends Description, Input {
  answer(call: Call, readBody: () => Promise<unknown>): Promise<Response>;
}

export function withBody<Body extends z.ZodType>(
  spec: Description & { body: Body },
  run: (call: Call, body: z.infer<Body>) => Promise<Response>,
): Route {
  return {
    ...spec,
    async answer(call, readBody) {
      const given = withOwnNames(spec.body, await readBody());
      const ignored = ignoredHeader(spec.body, given);
      const body = check(spec.body, given);
      call.note(body as object);
      const response = await run(call, body);
      for (const [name, value] of Object.entries(ignored)) response.headers.set(name, value);
      return response;
    },
  };
}

export function withQuery<Query extends z.ZodObject>(
  spec: Description & { query: Query },
  run: (call: Call, query: z.infer<Query>) => Promise<Response>,
): Route {
  return {
    ...spec,
    async answer(call) {
      const query = check(spec.query, withOwnNames(spec.query, queryObject(call.request.url)));
      call.note(query);
      return run(call, query);
    },
  };
}

export function plain(
  spec: Description & { params?: z.ZodObject },
  run: (call: Call) => Promise<Response>,
): Route {
  return { ...spec, answer: (call) => run(call) };
}

/** What the handler knows about a request in addition to its route. */
export interface Incoming {
  readonly request: Request;
  readonly id: string;
  /** Called with the caller's identity, even if the caller is rejected. */
  readonly onIdentity: (identity: Identity) => void;
  readonly onCaller: (caller: Caller) => void;
  readonly onEnd: (refusal: Refusal | undefined) => void;
  readonly note: (facts: object) => void;
  readonly recordLater: () => () => void;
}

const MOST_ATTEMPTS = 3;

/** Takes a request through the steps that are listed at the top of this file. */
export async function perform(
  route: Route,
  service: Service,
  incoming: Incoming,
): Promise<Response> {
  const { request, id, onEnd, note, recordLater, onCaller } = incoming;
  const judge = () => admit(request, route.access, service);
  let caller = await admit(request, route.access, service, incoming.onIdentity);
  onCaller(caller);
  checkContentType(route, request);
  await reachGeneration(request, caller, service.engine);
  const readBody = once(() => readJson(request, service.settings.maxBodyBytes));
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    const seen = caller.viewer;
    const confirm = async (): Promise<void> => {
      if (seesLess(seen, (await judge()).viewer)) throw seesLessNow();
    };
    const response = await route.answer(
      { ...service, request, id, caller, confirm, onEnd, note, recordLater },
      readBody,
    );
    if (route.streams || route.outlivesCaller) return response;
    let leaves = false;
    try {
      caller = await judge();
      leaves = route.changes === true || !seesLess(seen, caller.viewer);
      if (leaves) return response;
    } finally {
      if (!leaves) await response.body?.cancel(); // immediately releases what the response holds, such as a slot
    }
  }
  throw seesLessNow();
}

const seesLessNow = (): Refusal =>
  forbidden("the permissions of this credential changed during the request; send it again");

function checkContentType(route: Route, { headers }: Request): void {
  const type = headers.get("content-type");
  if (!route.changes || isJson(type) || (type === null && route.body === undefined)) return;
  throw new Refusal("UNSUPPORTED_MEDIA_TYPE", "the content type must be application/json");
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= read());
}
