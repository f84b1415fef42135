/**
 * Processes open data files with flipped bits, or truncated ones. Each answer must be right, or say what is missing; no
 * answer may be wrong. scripts/damage.ts does this as often as one likes.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundle, type Bundle } from "./crash/bundle.ts";
import { damageOf, makeTarget, place, tryDamage, tryDamaged, type Target } from "./crash/damage.ts";
import { brokenPromise, placeOf } from "./crash/promises.ts";
import { temporaryFolder } from "./opened.ts";
import { RUNS } from "../runs.ts";
import { testSeed } from "./seed.ts";

const made = mkdtempSync(join(tmpdir(), "quern-damage-"));
let bundled: Bundle;
let target: Target;
beforeAll(async () => {
  bundled = await bundle("writer-process", "damage-process");
  target = await makeTarget(bundled, made);
});
afterAll(() => {
  bundled.remove();
  rmSync(made, { recursive: true, force: true, maxRetries: 3 });
});

test("answers about a damaged file are right, partial or refused", async () => {
  let state = testSeed();
  const folder = temporaryFolder();
  const random = () => (state = (state * 48_271 + 11) % 2_147_483_647) / 2_147_483_647;
  for (let i = 0; i < 3 * RUNS; i++) {
    const damage = damageOf(target, random);
    const trial = await tryDamage(bundled, { target, damage, folder });
    const where = `${damage.what} (${placeOf(damage)}) ${trial.wrong.join("; ")}`;
    expect(brokenPromise(damage, trial), where).toBeUndefined();
  }
});

test("a truncated file is rejected, whichever byte is missing", async () => {
  const folder = temporaryFolder();
  const { bytes } = target;
  for (const lost of [1, 4_096, bytes.length - 8_192, bytes.length - 4_095, bytes.length - 1]) {
    const path = place(folder, "cut", bytes.subarray(0, bytes.length - lost));
    const told = await tryDamaged(bundled, path);
    expect(told, `${join(path)} without ${lost} bytes`).toMatchObject([
      {
        name: "open",
        code: "INDEX_CORRUPT",
        message: expect.stringMatching(/cut short/) as string,
      },
    ]);
  }
});
