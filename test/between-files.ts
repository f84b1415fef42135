/**
 * Runs with each file of a process that runs several. Modules of test/ are evaluated again, because some register hooks
 * and hold what the file has made; the bundles of src/ remain loaded. A file that leaves its process changed fails.
 */

import { afterAll, expect, vi } from "vitest";

const stateOfProcess = () => ({ folder: process.cwd(), environment: { ...process.env } });

vi.resetModules();
const before = stateOfProcess();
// registered first, so it runs last
afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks(); // the bundles remain
  expect(stateOfProcess(), "what a file leaves to the next one").toEqual(before);
});
