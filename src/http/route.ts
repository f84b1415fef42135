/**
 * One operation of the interface: what it is called, who may use it, what it takes and answers.
 * The table of them is what is served and what the OpenAPI document is made of.
 *
 * A call goes through these steps, and each refusal below can only come at its own:
 *
 *     405 another method   401, 403 who asks   415 content type   413 length   400 fields   the route's own
 *
 * Nothing of a body is read before 401 and 403 are settled. Before an answer leaves, its caller is
 * judged again; a reading route whose caller sees less by then is run once more.
 */

import type { z } from "@hono/zod-openapi";
import type { Engine } from "../engine.ts";
import type { Viewer } from "../search/messages/request.ts";
import type { Identity } from "../auth/principal.ts";
import type { AuditAction } from "./audit-trail.ts";
import { check, isJson, queryObject, readJson } from "./body.ts";
import { admit, forbidden, seesLess, type Access, type Caller } from "./gate.ts";
import type { Metrics } from "./metrics.ts";
import type { Settings } from "./options.ts";
import { Refusal, type RefusalCode } from "./refusal.ts";
import type { Slots } from "./slots.ts";

/** What one handler has for all its calls. */
export interface Service {
  readonly engine: Engine;
  readonly settings: Settings;
  readonly slots: Slots;
  /** Absent: nothing is counted. */
  readonly metrics?: Metrics;
}

/** A request that was admitted. */
export interface Call extends Service {
  readonly request: Request;
  readonly caller: Caller;
  /** What stands for the braces of the path; "" where there are none. */
  readonly id: string;
  /** Rejects if the caller may not be answered any more, or sees less than when it came in. */
  readonly confirm: () => Promise<void>;
  /** For answers that outlive the call: told of the end in place of the handler. */
  readonly onEnd: (refusal: Refusal | undefined) => void;
  /** Adds to what is recorded of the request, which is its checked input so far. */
  readonly note: (facts: object) => void;
  /** Puts the record off until the returned function is called, for what is noted while the answer is read. */
  readonly recordLater: () => () => void;
}

/** Undefined: everything. */
export const viewerOption = ({ caller }: Call): { viewer?: Viewer } =>
  caller.viewer === undefined ? {} : { viewer: caller.viewer };

interface Description {
  readonly method: "get" | "post" | "delete";
  /** As OpenAPI writes it. */
  readonly path: string;
  readonly action: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** What its calls are recorded as in the audit store. Absent: not recorded. */
  readonly audit?: AuditAction;
  /** Whether its answer leaves even if the caller is gone by then: it may have removed them. */
  readonly outlivesCaller?: true;
  /** Whether it changes something: then other content types than JSON are refused. */
  readonly changes?: true;
  /** Whether the answer itself asks confirm() as it goes. */
  readonly streams?: true;
  readonly answers: Answers;
  /** Beside those that any operation of its kind has. */
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
      const body = check(spec.body, await readBody());
      call.note(body as object);
      return run(call, body);
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
      const query = check(spec.query, queryObject(call.request.url));
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

/** What the handler knows of a request beside its route. */
export interface Incoming {
  readonly request: Request;
  readonly id: string;
  /** Told who asks, also where they may not. */
  readonly onIdentity: (identity: Identity) => void;
  readonly onCaller: (caller: Caller) => void;
  readonly onEnd: (refusal: Refusal | undefined) => void;
  readonly note: (facts: object) => void;
  readonly recordLater: () => () => void;
}

const MOST_ATTEMPTS = 3;

/** Takes a request through the steps above. */
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
      if (!leaves) await response.body?.cancel(); // what it holds, a slot among it, is free at once
    }
  }
  throw seesLessNow();
}

const seesLessNow = (): Refusal =>
  forbidden("what this credential may see was changed meanwhile; ask again");

function checkContentType(route: Route, { headers }: Request): void {
  const type = headers.get("content-type");
  if (!route.changes || isJson(type) || (type === null && route.body === undefined)) return;
  throw new Refusal("UNSUPPORTED_MEDIA_TYPE", "the content type must be application/json");
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= read());
}
