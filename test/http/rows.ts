/** The rows of the tests of routes: a request, and its answer, which is the same for every way to serve. */

import type { STATUS } from "../../src/http/refusal.ts";
import { bearer, post, type Service } from "./service.ts";

export interface Row {
  name: string;
  /** The operation in the OpenAPI document. Absent if the request matches none. */
  operation?: [method: string, path: string];
  request: (
    service: Service,
  ) => [path: string, init?: RequestInit] | Promise<[string, RequestInit?]>;
  status: number;
  /** The code of an error. */
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
