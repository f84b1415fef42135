/**
 * Tests in a browser. Without a browser they are skipped and a printed line says so. With QUERN_CI=1 that is an error.
 */

import type { Browser } from "playwright-core";
import { afterAll, describe } from "vitest";
import { leaveOut } from "../left-out.ts";
import { launchBrowser } from "./launch.ts";

async function launchIfPossible(): Promise<Browser | undefined> {
  try {
    return await launchBrowser();
  } catch (error) {
    leaveOut("browser", String(error));
    return undefined;
  }
}

const browser = await launchIfPossible();
afterAll(() => browser?.close());

/** Declares tests in the browser, which are skipped without one. */
export function inBrowser(name: string, define: (browser: Browser) => void): void {
  describe.runIf(browser !== undefined)(name, () => {
    if (browser !== undefined) define(browser);
  });
}
