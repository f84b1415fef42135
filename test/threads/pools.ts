/** Pools for tests: opened with one line, closed after each test. */

import { afterEach, beforeAll } from "vitest";
import type { QuernError } from "../../src/base/errors.ts";
import { createPool, type Pool, type RunOptions } from "../../src/threads/pool.ts";
import { bundle } from "./bundle.ts";
import { tasks } from "./tasks.ts";

export const SEARCH: RunOptions = { lane: "search" };
export const INGEST: RunOptions = { lane: "ingest" };

let entry: URL;
const pools: Pool[] = [];

/** The warnings of the pools of the running test. */
export const warnings: string[] = [];

beforeAll(async () => {
  entry = await bundle("worker.ts");
});

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
  warnings.length = 0;
});

export function open(size: number, environment: unknown = "env"): Pool {
  const onWarning = ({ message }: { message: string }) => void warnings.push(message);
  const pool = createPool({ size, entry, tasks, environment, onWarning });
  pools.push(pool);
  return pool;
}

export const caught = (promise: Promise<unknown>) =>
  promise.then(
    (value) => ({ value }),
    (error: unknown) => error as QuernError,
  );
