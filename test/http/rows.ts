/** Rows of the tests of routes: a request, and what must come back whichever way it is served. */

import type { STATUS } from "../../src/http/refusal.ts";
import { bearer, post, type Service } from "./service.ts";

export interface Row {
  name: string;
  /** Of the OpenAPI document; absent: the request matches no operation. */
  operation?: [method: string, path: string];
  request: (
    service: Service,
  ) => [path: string, init?: RequestInit] | Promise<[string, RequestInit?]>;
  status: number;
  /** Of an error. */
  code?: keyof typeof STATUS;
  check?: (body: never, headers: Headers, service: Service) => void | Promise<void>;
}

export const asks =
  (path: string, body: unknown, who: keyof Service["keys"] = "ada") =>
  ({ keys }: Service): [string, RequestInit] => [path, post(body, bearer(keys[who]))];
export const gets =
  (path: string, who: keyof Service["keys"] = "ada") =>
  ({ keys }: Service): [string, RequestInit] => [path, { headers: bearer(keys[who]) }];
export const needle = { query: "needle", matches: 100 };
