/** Tests `npm start`, a new user's first minute. Every question is answered, and the times are of warm searches. */

import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { duration } from "../src/cli/style.ts";
import { temporaryFolder } from "./engine/opened.ts";
import { SHORT_LIVED } from "./short-lived.ts";

/** Makes the script also print the nanoseconds of each search. */
const LISTENER = `import { tracingChannel } from "node:diagnostics_channel";
tracingChannel("quern:search").subscribe({
  asyncEnd: ({ request, stats }) => console.error(JSON.stringify([request.query, stats.duration])),
});
`;

test("npm start answers each question twice and shows the second time", async () => {
  const folder = temporaryFolder();
  const listener = join(folder, "listener.mjs");
  writeFileSync(listener, LISTENER);
  const imports = ["--import", "tsx", "--import", listener];
  const argv = [...SHORT_LIVED, ...imports, "scripts/start.ts", join(folder, "demo")];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, argv);
  expect(stdout).toMatch(/^indexed \d+ repositories, \d+ files, .* symbols in /m);
  const asked = stderr
    .split("\n")
    .filter((line) => line.startsWith("["))
    .map((line) => JSON.parse(line) as [query: string, nanoseconds: number]);
  const shown = [...stdout.matchAll(/^ {3}([\d,]+) match(?:es)? in .* read, (.*)$/gm)];
  expect(shown.length).toBeGreaterThan(6);
  expect(asked.length).toBe(2 * shown.length);
  for (const [n, [, matches, time]] of shown.entries()) {
    const [[first], [second, nanoseconds]] = [asked[2 * n]!, asked[2 * n + 1]!];
    expect(second).toBe(first);
    expect(time, first).toBe(duration(nanoseconds / 1e6));
    expect(Number(matches!.replaceAll(",", "")), first).toBeGreaterThan(0);
  }
});
