import { expect, test } from "vitest";
import { RETIRE_MS } from "../../src/store/format/format.ts";
import { deletable, EMPTY_MANIFEST } from "../../src/store/catalog/manifest.ts";

test.each([
  [RETIRE_MS - 1, Infinity, false],
  [RETIRE_MS, Infinity, true],
  [RETIRE_MS, 7, true],
  [RETIRE_MS, 6, false],
  [RETIRE_MS + 60_000, 6, false],
])(
  "whether a segment retired %i ms ago in generation 7 may be deleted if the oldest held generation is %d: %s",
  (age, oldestHeld, isDead) => {
    const now = 1_700_000_000_000;
    const one = { segment: 1, at: now - age, generation: 7 };
    const manifest = { ...EMPTY_MANIFEST, retired: [one] };
    expect(deletable(manifest, now, { retireMs: RETIRE_MS, oldestHeld })).toEqual(
      isDead ? [one] : [],
    );
  },
);
