/** A machine without a service or a browser skips tests and says so. With QUERN_CI=1, these tests fail. */

import { Readable } from "node:stream";
import { expect, test, vi } from "vitest";

const { missing } = vi.hoisted(() => ({ missing: { what: "" } }));

vi.mock("node:net", async (original) => ({
  ...(await original<object>()),
  connect: () =>
    Readable.from([missing.what === "PostgreSQL" ? '{"missing":"no\\nroom"}' : '{"port":1}']),
}));
vi.mock("node:child_process", async (original) => ({
  ...(await original<object>()),
  execFileSync: () => {
    throw new Error("no such module");
  },
}));
vi.mock("node:fs", async (original) => ({
  ...(await original<object>()),
  existsSync: (path: string) => !path.includes("pgbouncer"),
}));

const NEEDS: readonly (readonly [what: string, load: () => Promise<unknown>])[] = [
  ["PostgreSQL", () => import("./cluster/postgres.ts")],
  ["PgBouncer", () => import("./cluster/pgbouncer.ts")],
  ["S3 server", () => import("./cluster/s3-server.ts")],
  ["browser", () => import("./page/browser.ts")],
];

interface Loaded {
  readonly what: string;
  readonly error: string;
  readonly printed: string;
}

/** Loads a module as on a machine that lacks what its tests need. Called outside of tests, because it adds hooks. */
async function loadWithout([what, load]: (typeof NEEDS)[number], isCi: boolean): Promise<Loaded> {
  missing.what = what;
  vi.resetModules();
  vi.stubEnv("QUERN_CI", isCi ? "1" : "");
  vi.stubEnv("QUERN_VERSITYGW", undefined);
  vi.stubEnv("QUERN_BROWSER", "/no/browser");
  const print = vi.spyOn(console, "log").mockImplementation(() => undefined);
  try {
    const error = await load().then(() => "", String);
    return { what, error, printed: print.mock.calls.join() };
  } finally {
    print.mockRestore();
    vi.unstubAllEnvs();
  }
}

const local: Loaded[] = [];
const ci: Loaded[] = [];
for (const need of NEEDS) {
  ci.push(await loadWithout(need, true));
  local.push(await loadWithout(need, false));
}

test.each(ci)("with QUERN_CI=1, tests that need a missing $what fail", ({ what, ...told }) => {
  expect(told.error).toMatch(new RegExp(`^Error: no ${what}: \\S`));
  expect(told.printed).toBe("");
});

test.each(local)(
  "without QUERN_CI, tests are skipped and one line names the missing $what",
  ({ what, ...told }) => {
    expect(told.error).toBe("");
    expect(told.printed).toMatch(new RegExp(`^no ${what}, so its tests are left out: .+$`));
  },
);
